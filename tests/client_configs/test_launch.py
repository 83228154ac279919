"""Which command a client is told to start."""

from pathlib import Path

import pytest

from quarterdeck.client_configs.launch import Launch, find_launch, runs_quarterdeck
from quarterdeck.errors import InvalidInput


def environment(path: Path) -> Path:
    """An installed environment; return its command."""
    script = path / "bin" / "quarterdeck"
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    return script


def launch(prefix: Path, environ: dict[str, str], origin: str | None = None) -> Launch:
    bin_ = prefix / "bin"
    return find_launch(
        prefix=prefix,
        script=bin_ / "quarterdeck",
        python=bin_ / "python",
        environ=environ,
        origin=origin,
    )


def test_the_command_beside_python_is_absolute(tmp_path: Path) -> None:
    script = environment(tmp_path / "venv")
    assert launch(tmp_path / "venv", {"HOME": "/h", "PATH": "bin:."}) == Launch(str(script), ())


@pytest.mark.parametrize("kind", ["home", "path"])
def test_a_link_that_outlives_the_version_is_preferred(kind: str, tmp_path: Path) -> None:
    script = environment(tmp_path / "tools" / "0.1.0")
    stable = tmp_path / (".local/bin" if kind == "home" else "usr/bin")
    stable.mkdir(parents=True)
    (stable / "quarterdeck").symlink_to(script)
    environ = {"HOME": str(tmp_path), "PATH": f"/nowhere:{tmp_path / 'usr/bin'}"}
    chosen = launch(tmp_path / "tools" / "0.1.0", environ)
    assert chosen == Launch(str(stable / "quarterdeck"), ())


def test_a_link_to_another_installation_is_not_taken(tmp_path: Path) -> None:
    other = environment(tmp_path / "other")
    script = environment(tmp_path / "venv")
    (tmp_path / ".local/bin").mkdir(parents=True)
    (tmp_path / ".local/bin/quarterdeck").symlink_to(other)
    assert launch(tmp_path / "venv", {"HOME": str(tmp_path)}) == Launch(str(script), ())


@pytest.mark.parametrize(
    ("cache", "runner", "args"),
    [
        ("uv/archive-v0/I0caqNi3GL-j5O1J", "uvx", ("quarterdeck",)),
        ("uv/environments-v2/quarterdeck-0f1e", "uvx", ("quarterdeck",)),
        (".cache/pipx/1a2b3c", "pipx", ("run", "quarterdeck")),
        ("pipx/.cache/1a2b3c", "pipx", ("run", "quarterdeck")),
    ],
)
def test_an_environment_in_a_cache_is_made_anew_by_what_made_it(
    cache: str, runner: str, args: tuple[str, ...], tmp_path: Path
) -> None:
    environment(tmp_path / cache)
    program = tmp_path / "bin" / runner
    program.parent.mkdir()
    program.touch(mode=0o755)
    environ = {"HOME": "/h", "PATH": str(program.parent)}
    assert launch(tmp_path / cache, environ) == Launch(str(program), args)
    assert launch(tmp_path / cache, {"HOME": "/h"}).command == runner


def test_a_package_that_came_from_no_index_is_named_by_where_it_came_from(tmp_path: Path) -> None:
    prefix = tmp_path / "archive-v0" / "x"
    environment(prefix)
    chosen = launch(prefix, {"HOME": "/h", "UV": "/u/bin/uv"}, "git+https://example.org/q")
    assert chosen.args == ("--from", "git+https://example.org/q", "quarterdeck")


def test_without_a_command_python_runs_the_package(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    python = str(tmp_path / "bin" / "python")
    assert launch(tmp_path, {"HOME": "/h"}) == Launch(python, ("-m", "quarterdeck"))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"command": "/x/quarterdeck", "args": ["mcp"]}, True),
        ({"command": "uvx", "args": ["quarterdeck", "mcp", "--read-only"]}, True),
        ({"command": "python", "args": ["-m", "quarterdeck", "mcp"]}, True),
        ({"command": "/x/quarterdeck", "args": ["up"]}, False),
        ({"command": "/x/quarterdeck"}, False),
        ({"command": "/x/quartermaster", "args": ["mcp"]}, False),
        ({"command": {"path": "quarterdeck"}, "args": ["mcp"]}, False),
        ({"url": "http://127.0.0.1:7420/mcp"}, False),
        ("quarterdeck mcp", False),
        (None, False),
    ],
)
def test_an_entry_is_ours_when_it_starts_quarterdeck_mcp(*, entry: object, expected: bool) -> None:
    assert runs_quarterdeck(entry) is expected


@pytest.mark.parametrize("folder", ["/a\nb", "/a\udcff"])
def test_a_path_that_no_file_can_hold_is_refused(folder: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        Launch(f"{folder}/quarterdeck", ()).then("mcp")
