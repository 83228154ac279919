"""npm: packages that run on Node."""

import re
import shutil
import subprocess
from pathlib import Path

from quarterdeck.clients.packages.command import Say, run
from quarterdeck.errors import InstallFailed

VERSION_SECONDS = 20


async def install(
    folder: Path, package: str, version: str, *, needs: tuple[int, ...], say: Say
) -> None:
    """Install one version of a package with all it needs into `folder`.

    No install scripts are run, of whatever it needs neither: they could do anything.
    """
    npm = _npm(package, needs)
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--save-exact")
    await run(
        [npm, "install", "--prefix", str(folder), *options, f"{package}@{version}"], package, say
    )


async def run_script(folder: Path, package: str, script: str, say: Say) -> None:
    """Run one script of an installed package, and of nothing else that came with it."""
    node = shutil.which("node") or "node"
    await run([node, str(folder / "node_modules" / package / script)], package, say)


def program(folder: Path, name: str) -> Path:
    """Return where a program of an installed package is."""
    return folder / "node_modules" / ".bin" / name


def _npm(package: str, needs: tuple[int, ...]) -> str:
    wanted = ".".join(map(str, needs))
    hint = f"install Node {wanted} or newer, which brings npm, and see that both are on PATH"
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise InstallFailed(package, "it needs Node and npm, which are not on PATH", hint=hint)
    found = _version(node)
    if found < needs:
        shown = ".".join(map(str, found)) or "none that works"
        raise InstallFailed(package, f"it needs Node {wanted}, and found is {shown}", hint=hint)
    return npm


def _version(node: str) -> tuple[int, ...]:
    try:
        done = subprocess.run(  # noqa: S603 - the user's own Node
            [node, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    numbers = re.match(r"v(\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, numbers.groups())) if numbers else ()
