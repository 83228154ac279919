"""How a client starts this installation: by a path that is still there after an upgrade."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePath
from typing import cast

from quarterdeck.errors import InvalidInput

PROGRAM = "quarterdeck"
# uv may keep its cache anywhere, but names the folders in it so.
UV_CACHE = re.compile(r"/(?:archive|environments|builds)-v\d+/[^/]+")
PIPX_CACHE = re.compile(r"/(?:pipx/\.cache|\.cache/pipx|Caches/pipx)/[^/]+")


@dataclass(frozen=True)
class Launch:
    """A command line, and the variables it needs beside those of the user."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    def then(self, *args: str, env: Mapping[str, str] | None = None) -> "Launch":
        """Return the launch with more arguments, and with `env` as its variables."""
        launch = Launch(self.command, (*self.args, *args), env or {})
        for text in (launch.command, *launch.args, *launch.env.values()):
            if not text.isprintable():
                raise InvalidInput(
                    f"{text!r} cannot be written into another program's configuration",
                    hint="use folders whose names are printable text",
                )
        return launch


def installed_launch(environ: Mapping[str, str]) -> Launch:
    """Return how the installation that runs now is started."""
    return find_launch(
        prefix=Path(sys.prefix),
        script=Path(sys.executable).with_name(PROGRAM),
        python=Path(sys.executable),
        environ=environ,
        origin=_origin(),
    )


def find_launch(
    *, prefix: Path, script: Path, python: Path, environ: Mapping[str, str], origin: str | None
) -> Launch:
    """Return what starts the installation under `prefix`, of which `script` is the command.

    Programs with windows do not have the shell's PATH, so the command is absolute. `origin` is
    where the package came from, unless it was the index.
    """
    folders = _folders(environ)
    if runner := throw_away_runner(prefix):
        command = next(
            (found for folder in folders if (found := folder / runner[0]).exists()), None
        )
        package = ("--from", origin, PROGRAM) if origin and runner[0] == "uvx" else (PROGRAM,)
        return Launch(str(command or runner[0]), (*runner[1:], *package))
    if not script.exists():
        return Launch(str(python), ("-m", PROGRAM))
    return Launch(str(_stable(script, folders)), ())


def throw_away_runner(prefix: Path) -> Sequence[str] | None:
    """Return what made the environment, if that is a cache which is emptied at times."""
    if UV_CACHE.search(str(prefix)):
        return ("uvx",)
    return ("pipx", "run") if PIPX_CACHE.search(str(prefix)) else None


def runs_quarterdeck(entry: object) -> bool:
    """Tell whether a client's entry starts `quarterdeck mcp`, by whatever way."""
    if not isinstance(entry, Mapping):
        return False
    members = cast("Mapping[str, object]", entry)
    command, args = members.get("command"), members.get("args")
    if not isinstance(command, str) or not isinstance(args, list) or "mcp" not in args:
        return False
    return PurePath(command).name == PROGRAM or PROGRAM in args


def _stable(script: Path, folders: Sequence[Path]) -> Path:
    """Return the link to `script` that stays when the folder of its version goes."""
    target = script.resolve()
    links = (folder / PROGRAM for folder in folders)
    return next((link for link in links if link.exists() and link.resolve() == target), script)


def _folders(environ: Mapping[str, str]) -> list[Path]:
    return [folder for folder in map(Path, _named_folders(environ)) if folder.is_absolute()]


def _named_folders(environ: Mapping[str, str]) -> Iterator[str]:
    # Where the uv stands that runs us.
    yield str(Path(environ.get("UV", "")).parent)
    yield from (environ.get(name, "") for name in ("UV_TOOL_BIN_DIR", "PIPX_BIN_DIR"))
    yield f"{environ.get('HOME', '')}/.local/bin"
    yield from environ.get("PATH", "").split(":")


def _origin() -> str | None:
    """Return the address that the package was installed from, if it was no index."""
    try:
        record = json.loads(distribution(PROGRAM).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return None
    kind = record.get("vcs_info", {}).get("vcs")
    return f"{kind}+{record['url']}" if kind else record.get("url")
