"""Quarterdecks to measure: a throw-away home each, as a process or inside this one."""

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from quarterdeck.app import Quarterdeck, open_quarterdeck
from quarterdeck.daemon.address import find
from quarterdeck.settings import load_settings

COMMAND = str(Path(sys.executable).with_name("quarterdeck"))


@contextmanager
def new_home() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        yield Path(folder)


@contextmanager
def daemon_in(home: Path) -> Generator[str]:
    """Run the daemon of a home on a free port, and yield its base URL."""
    try:
        _run(home, "up", "--detach", "--port", "0")
        address = find(home)
        assert address is not None, "it has just been started"
        yield address.url
    finally:
        stop(home)


def stop(home: Path) -> None:
    """Stop the daemon of a home, if there is one, and wait until it is gone."""
    _run(home, "down")


def _run(home: Path, *arguments: str) -> None:
    subprocess.run([COMMAND, *arguments], env=environment(home), check=True, capture_output=True)


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which nothing but the home is configured."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": str(home), "QUARTERDECK_HOME": str(home)}


@asynccontextmanager
async def opened(home: Path, database_url: str | None = None) -> AsyncGenerator[Quarterdeck]:
    """Open a Quarterdeck in this process, with the default durability."""
    environ = environment(home)
    if database_url is not None:
        environ["QUARTERDECK_DATABASE_URL"] = database_url
    async with open_quarterdeck(load_settings(environ=environ)) as deck:
        yield deck
