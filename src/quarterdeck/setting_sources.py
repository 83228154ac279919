"""Where settings come from: flags, the environment and `config.toml`, read into layers.

Below `settings`, which says what settings there are and merges the layers.
A setting is named by its dotted key (`server.port`), which also gives its environment
variable (`QUARTERDECK_SERVER_PORT`) and its command line flag (`--port`).
"""

import tomllib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from quarterdeck.errors import InvalidSettings, closest_name

PREFIX = "QUARTERDECK_"
# Variables of ours that are no settings: other parts of the program give and take them.
RESERVED = (
    "QUARTERDECK_AGENT_MARK",
    "QUARTERDECK_TASKFILE",
    "QUARTERDECK_TOKEN",
    "QUARTERDECK_UPDATE_SNAPS",
)
# What other programs call one of our settings; our own name wins over it.
STANDARD_NAMES = {"telemetry.otlp_endpoint": "OTEL_EXPORTER_OTLP_ENDPOINT"}


class Given(NamedTuple):
    """A value that somebody set, and where."""

    value: object
    origin: str


class Problem(NamedTuple):
    """Why a source cannot be used; `setting` is unset when it is about the source as such."""

    setting: str | None
    origin: str
    problem: str

    def __str__(self) -> str:
        place = f"{self.setting!r} ({self.origin})" if self.setting else self.origin
        return f"{place} {self.problem}"


@dataclass(frozen=True)
class Layer:
    """What one source sets, by dotted key, and what is wrong with it."""

    given: dict[str, Given] = field(default_factory=dict[str, Given])
    problems: list[Problem] = field(default_factory=list[Problem])

    def nested(self) -> dict[str, object]:
        """Return the values as the tree of sections that the model validates."""
        tree: dict[str, object] = {}
        for key, given in self.given.items():
            section, _, name = key.rpartition(".")
            branch = cast("dict[str, object]", tree.setdefault(section, {})) if section else tree
            branch[name] = given.value
        return tree


def environment_name(key: str) -> str:
    return PREFIX + key.replace(".", "_").upper()


def flag_name(key: str) -> str:
    """Return the flag of `key`; those of the server need no section before them."""
    return "--" + key.removeprefix("server.").replace(".", "-").replace("_", "-")


def find_home(flags: Mapping[str, object], environ: Mapping[str, str]) -> tuple[Path, str]:
    """Return the home and its origin, which the config file inside cannot change."""
    variable = environment_name("home")
    if flag := flags.get("home"):
        return _absolute(str(flag), environ), f"flag {flag_name('home')}"
    if value := environ.get(variable, "").strip():
        return _absolute(value, environ), f"environment {variable}"
    return _absolute("~/.quarterdeck", environ), "default"


def _absolute(path: str, environ: Mapping[str, str]) -> Path:
    # Not `Path.expanduser` alone: it would look up HOME in the process environment.
    if path.partition("/")[0] == "~" and (user_home := environ.get("HOME")):
        path = user_home + path[1:]
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidSettings(
            f"The home {path!r} cannot be found, because the user has no home directory",
            hint=f"set {environment_name('home')} to a folder on a local disk",
        ) from error


def read_flags(flags: Mapping[str, object], keys: Sequence[str]) -> Layer:
    """Read the flags, by dotted key; `None` means that a flag was not used."""
    layer = Layer()
    for key, value in flags.items():
        origin = f"flag {flag_name(key)}"
        if key not in keys:
            layer.problems.append(_unknown_key(key, origin, keys))
        elif value is not None:
            layer.given[key] = Given(value, origin)
    return layer


def read_environment(environ: Mapping[str, str], keys: Sequence[str]) -> Layer:
    """Read the environment, where an empty variable counts as unset."""
    layer = Layer()
    for key in keys:
        for name in (STANDARD_NAMES.get(key, ""), environment_name(key)):
            if value := environ.get(name, "").strip():
                layer.given[key] = Given(value, f"environment {name}")
    known = {*RESERVED, *map(environment_name, keys)}
    strangers = sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
    layer.problems.extend(_unknown_variable(name, keys) for name in strangers)
    return layer


def read_file(path: Path, keys: Sequence[str], tables: Sequence[str] = ()) -> Layer:
    """Read a TOML file; one that is not there sets nothing.

    In `tables` users choose the names, so each is taken as it stands.
    """
    layer = Layer()
    origin = f"config file {path}"
    try:
        table = _parse(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return layer
    except OSError as error:
        layer.problems.append(Problem(None, origin, f"cannot be read: {error.strerror}"))
    except ValueError as error:
        layer.problems.append(Problem(None, origin, f"is broken: {error}"))
    else:
        layer.given.update(
            {name: Given(table.pop(name), origin) for name in tables if name in table}
        )
        for key, value in _leaves(table):
            _take(layer, key, Given(value, origin), keys)
    return layer


def refusal(problems: Sequence[Problem]) -> InvalidSettings:
    """Return the error that names every problem, in one sentence and as details."""
    lead = "cannot be used" if len(problems) == 1 else f"has {len(problems)} problems"
    return InvalidSettings(
        f"The configuration {lead}: {'; '.join(map(str, problems))}",
        details={"problems": [problem._asdict() for problem in problems]},
        hint="change each at the place it names; the configuration reference lists all settings",
    )


def _parse(content: bytes) -> dict[str, object]:
    # The byte order mark that some editors write is no TOML.
    content = content.removeprefix(BOM_UTF8)
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"Not UTF-8 text (at line {line})") from error
    except tomllib.TOMLDecodeError as error:
        # At the end of the file, tomllib names no line.
        last = f"(at line {len(content.splitlines())}, the last)"
        raise ValueError(str(error).replace("(at end of document)", last)) from error


def _take(layer: Layer, key: str, given: Given, keys: Sequence[str]) -> None:
    if key.partition(".")[0] == "home":
        problem = (
            "cannot be set in this file, because the file is looked for in the home"
            f" (use {flag_name('home')} or {environment_name('home')})"
        )
        layer.problems.append(Problem(key, given.origin, problem))
    elif key in keys:
        layer.given[key] = given
    elif given.value != {} or not any(known.startswith(f"{key}.") for known in keys):
        layer.problems.append(_unknown_key(key, given.origin, keys))


def _leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _leaves(cast("dict[str, object]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _unknown_key(key: str, origin: str, keys: Sequence[str]) -> Problem:
    closest = _closest_key(key, keys)
    advice = f" (did you mean {closest!r}?)" if closest else ""
    return Problem(key, origin, f"is not a setting{advice}")


def _unknown_variable(name: str, keys: Sequence[str]) -> Problem:
    closest = _closest_key(name.removeprefix(PREFIX), keys)
    advice = f" (did you mean {environment_name(closest)}?)" if closest else ""
    return Problem(None, f"environment {name}", f"is not a setting{advice}")


def _closest_key(name: str, keys: Sequence[str]) -> str | None:
    """Return the key that `name` was meant to be; people also forget the section."""
    spellings = {key.rpartition(".")[2]: key for key in keys}
    spellings |= {key.replace(".", "_"): key for key in keys}
    closest = closest_name(name.replace(".", "_").lower(), tuple(spellings))
    return spellings[closest] if closest else None
