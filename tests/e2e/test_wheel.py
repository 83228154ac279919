"""The wheel, installed into an empty environment from the runtime lock, as a user would have it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

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
