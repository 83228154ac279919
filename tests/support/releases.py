"""This product in several versions, each built as a wheel and installed for itself."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

from quarterdeck import __version__
from quarterdeck.daemon.versions import release
from tests.support.repository import ROOT

UV = Path(sys.executable).with_name("uv")
MAJOR, MINOR = release(__version__)[:2]
OLDER, NEWER, NEXT_MAJOR = __version__, f"{MAJOR}.{MINOR + 1}.0", f"{MAJOR + 1}.0.0"
PARTS = ("LICENSE", "README.md", "pyproject.toml", "src")


class Release(NamedTuple):
    """An environment that has one version of the product."""

    version: str
    program: Path
    python: Path


def install(version: str, folder: Path) -> Release:
    """Build a wheel of this tree under another number, and install it into a new environment."""
    tree, environment = folder / "tree", folder / "environment"
    _copy(version, tree)
    # The backend of the lock, so that a build needs no network.
    _run(UV, "build", "--wheel", "--no-build-isolation", "--python", sys.executable, tree)
    (wheel,) = (tree / "dist").glob("*.whl")
    python = environment / "bin" / "python"
    _run(UV, "venv", "--python", sys.executable, environment)
    _run(UV, "pip", "install", "--offline", "--no-deps", "--python", python, wheel)
    _borrow_libraries(environment)
    return Release(version, environment / "bin" / "quarterdeck", python)


def _copy(version: str, tree: Path) -> None:
    tree.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy(ROOT / part, tree / part)
    for file in (tree / "pyproject.toml", tree / "src" / "quarterdeck" / "__init__.py"):
        text = file.read_text(encoding="utf-8")
        assert text.count(f'"{__version__}"') == 1, f"{file} names the version once"
        file.write_text(text.replace(f'"{__version__}"', f'"{version}"'), encoding="utf-8")


def _borrow_libraries(environment: Path) -> None:
    """Let it use the libraries of the environment that runs the tests.

    Its own packages come first. Those that are installed editably over there, which is the
    product itself, are not borrowed: they are found by a file that is read in its own place alone.
    """
    (packages,) = environment.glob("lib/python*/site-packages")
    borrowed = sysconfig.get_path("purelib")
    (packages / "borrowed.pth").write_text(f"{borrowed}\n", encoding="utf-8")


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
