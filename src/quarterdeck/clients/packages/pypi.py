"""uv, or else pip: packages that run on Python, each in an environment of its own."""

import shutil
import sys
from pathlib import Path

from quarterdeck.clients.packages.command import Say, run
from quarterdeck.errors import InstallFailed

NEWEST_PYTHON = 20


async def install(
    folder: Path, package: str, version: str, *, needs: tuple[int, ...], say: Say
) -> None:
    """Install one version of a package with all it needs into an environment at `folder`."""
    wanted, python = f"{package}=={version}", str(folder / "bin" / "python")
    if uv := shutil.which("uv"):
        oldest = ".".join(map(str, needs))
        await run([uv, "venv", "--python", f">={oldest}", str(folder)], package, say)
        await run([uv, "pip", "install", "--python", python, wanted], package, say)
        return
    await run([_python(package, needs), "-m", "venv", str(folder)], package, say)
    options = ("--disable-pip-version-check", "--no-input")
    await run([python, "-m", "pip", "install", *options, wanted], package, say)


def program(folder: Path, name: str) -> Path:
    """Return where a program of an installed package is."""
    return folder / "bin" / name


def _python(package: str, needs: tuple[int, ...]) -> str:
    if sys.version_info[: len(needs)] >= needs:
        return sys.executable
    major, minor = needs
    for newer in range(minor, NEWEST_PYTHON):
        if python := shutil.which(f"python{major}.{newer}"):
            return python
    raise InstallFailed(
        package,
        f"it needs Python {major}.{minor}, which is not on PATH",
        hint=f"install uv, or Python {major}.{minor} or newer, and try again",
    )
