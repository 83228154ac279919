"""The `quarterdeck` command: hands the real program to the command line."""

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from quarterdeck.cli.main import run

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from quarterdeck.app import Quarterdeck
    from quarterdeck.overrides.surface import Surface
    from quarterdeck.ports.agent_programs import AgentPrograms
    from quarterdeck.ports.database import Database
    from quarterdeck.settings import Settings


class Installed:
    """Implements `Program`; loads each part when a command asks for it."""

    def open(self, settings: "Settings") -> "AbstractAsyncContextManager[Quarterdeck]":
        from quarterdeck.app import open_quarterdeck

        return open_quarterdeck(settings)

    def database(self, settings: "Settings") -> "Database":
        from quarterdeck.app import open_database

        return open_database(settings)

    def agent_programs(self, settings: "Settings") -> "AgentPrograms":
        from quarterdeck.app import find_agent_programs

        return find_agent_programs(settings)

    @asynccontextmanager
    async def paused(self, settings: "Settings") -> AsyncGenerator[None]:
        from quarterdeck.cli.render import remark
        from quarterdeck.daemon.launch import paused

        with paused(settings.home, os.environ, say=remark):
            yield

    async def serve_stdio(self, settings: "Settings") -> None:
        from quarterdeck.serve import serve_stdio

        await serve_stdio(settings)

    async def bridge(self, home: Path, path: str, say: Callable[[str], None]) -> None:
        from quarterdeck.bridge.run import run

        await run(home, os.environ, path, say)
        # Nothing is left to do, and a thread may wait in a read of stdin that only the client
        # can end.
        os._exit(0)

    async def serve_http(self, settings: "Settings", announce: Callable[[str], None]) -> int:
        from quarterdeck.serve import serve_http

        return await serve_http(settings, announce)

    async def count_tools(self, settings: "Settings") -> int:
        from quarterdeck.serve import count_tools

        return await count_tools(settings)

    async def offered(self, settings: "Settings", *, effective: bool) -> "Surface":
        from quarterdeck.serve import offered

        return await offered(settings, effective=effective)


def main() -> None:
    # FastMCP would take settings from a `.env` in whatever folder a client starts us.
    os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)
    for stream in (sys.stdout, sys.stderr):
        # What a terminal cannot show is shown escaped, instead of failing the command.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(Installed()))


if __name__ == "__main__":
    main()
