"""Quarterdecks to measure: a throw-away home each, as a process or inside this one."""

import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from quarterdeck.app import Quarterdeck, open_quarterdeck
from quarterdeck.settings import load_settings

COMMAND = str(Path(sys.executable).with_name("quarterdeck"))


@contextmanager
def new_home() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        yield Path(folder)


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
