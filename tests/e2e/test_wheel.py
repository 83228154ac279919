"""The wheel, installed into an empty environment from the runtime lock, as a user would have it."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.support.repository import ROOT, committable_files

pytestmark = [
    pytest.mark.timeout(300),  # a cold cache means downloads
    pytest.mark.xdist_group("wheel"),  # one build and one installation
]

UV = Path(sys.executable).with_name("uv")
PACKAGE = ROOT / "src" / "quarterdeck"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # The backend of the lock, so that a build needs no network.
    run(UV, "build", "--wheel", "--no-build-isolation", "--python", sys.executable, "-o", folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `quarterdeck` command of an environment that has the runtime lock and the wheel."""
    environment = tmp_path_factory.mktemp("installed")
    python = environment / "bin" / "python"
    run(UV, "venv", "--clear", "--python", sys.executable, environment)
    install = (UV, "pip", "install", "--python", python)
    run(*install, "--require-hashes", "-r", ROOT / "requirements" / "runtime.txt")
    run(*install, "--no-deps", wheel)
    return environment / "bin" / "quarterdeck"


@pytest.fixture
def empty_home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has nothing yet."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": os.defpath, "TMPDIR": str(tmp_path)}


@pytest.fixture
def taken_down(installed: Path, empty_home: dict[str, str]) -> Iterator[None]:
    """Afterwards no daemon is left that a client's command has started."""
    yield
    if "\n  down " in run(installed, "--help", env=empty_home):
        subprocess.run([installed, "down"], env=empty_home, capture_output=True, check=False)


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    expected = {
        str(path.relative_to(ROOT / "src"))
        for path in committable_files()
        if path.is_relative_to(PACKAGE)
    }
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert sorted(expected - packed) == []


def test_the_wheel_has_texts_and_migrations(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel).namelist()
    assert [name for name in packed if "/tools/texts/" in name and name.endswith(".yaml")]
    assert [name for name in packed if "/migrations/versions/" in name and name.endswith(".py")]


def test_help_names_the_commands(installed: Path, empty_home: dict[str, str]) -> None:
    text = run(installed, "--help", env=empty_home)
    assert "doctor" in text
    assert "memory" in text


def test_doctor_finds_nothing_wrong_in_an_empty_home(
    installed: Path, empty_home: dict[str, str]
) -> None:
    assert run(installed, "doctor", env=empty_home)


async def test_a_value_stored_over_stdio_is_there_in_the_next_process(
    installed: Path, empty_home: dict[str, str]
) -> None:
    server = StdioServerParameters(
        command=str(installed), args=["mcp", "--standalone"], env=empty_home
    )
    entry = {"key": "greeting", "value": {"text": "ahoy"}}
    with anyio.fail_after(60):
        async with Client(server) as client:
            stored = await client.call_tool("memory_store", entry)
        async with Client(server) as client:
            retrieved = await client.call_tool("memory_retrieve", {"key": "greeting"})
    assert not stored.is_error
    assert retrieved.structured_content is not None
    assert retrieved.structured_content["value"] == entry["value"]


# How each client reads its file, in a home that has none of the client's own variables.
READERS: dict[str, Callable[[Path], Any]] = {
    "claude-code": lambda home: json.loads((home / ".claude.json").read_text("utf-8"))[
        "mcpServers"
    ],
    "codex": lambda home: tomllib.loads((home / ".codex" / "config.toml").read_text("utf-8"))[
        "mcp_servers"
    ],
}


@pytest.mark.parametrize("client", READERS)
@pytest.mark.usefixtures("taken_down")
async def test_a_new_user_installs_a_client_whose_configured_command_answers(
    client: str, installed: Path, empty_home: dict[str, str]
) -> None:
    run(installed, "install", client, "--yes", env=empty_home)
    entry = READERS[client](Path(empty_home["HOME"]))["quarterdeck"]
    assert (entry["command"], entry["args"]) == (str(installed), ["mcp"])
    assert await answer(entry, empty_home) == {"text": "ahoy"}


async def test_what_uvx_runs_tells_a_client_to_use_uvx_and_that_answers(
    wheel: Path, empty_home: dict[str, str]
) -> None:
    cache = run(UV, "cache", "dir").strip()
    lock = str(ROOT / "requirements" / "runtime.txt")
    # The versions and the cache that the other tests use, so that nothing is downloaded anew.
    ours = {"UV_CACHE_DIR": cache, "UV_CONSTRAINT": lock, "UV_PYTHON": sys.executable}
    inherited = {key: os.environ[key] for key in os.environ if "QUARTERDECK" not in key}
    environ = {**inherited, **empty_home, **ours}
    uvx = (UV, "tool", "run", "--from", wheel, "quarterdeck")
    run(*uvx, "install", "claude-code", "--yes", env=environ)
    entry = READERS["claude-code"](Path(empty_home["HOME"]))["quarterdeck"]
    assert entry["command"] == str(UV.with_name("uvx"))
    assert entry["args"] == ["--from", wheel.as_uri(), "quarterdeck", "mcp"]
    try:
        assert await answer(entry, environ) == {"text": "ahoy"}
    finally:
        if "\n  down " in run(*uvx, "--help", env=environ):
            run(*uvx, "down", env=environ)


async def answer(entry: dict[str, Any], environ: dict[str, str]) -> object:
    """Launch an entry as its client does, store a value and return what is found."""
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={**environ, **entry.get("env", {})}
    )
    with anyio.fail_after(120):
        async with Client(server) as client:
            await client.call_tool("memory_store", {"key": "greeting", "value": {"text": "ahoy"}})
            found = await client.call_tool("memory_retrieve", {"key": "greeting"})
    assert found.structured_content is not None
    return found.structured_content["value"]


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    """Return what a command printed; when it fails, the test's failure shows both streams."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
