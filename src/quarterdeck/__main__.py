"""The `quarterdeck` command: hands the real program to the command line."""

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from io import TextIOWrapper
from typing import TYPE_CHECKING

from quarterdeck.cli.main import run

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from quarterdeck.app import Quarterdeck
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

    def paused(self, settings: "Settings") -> "AbstractAsyncContextManager[None]":
        # No server belongs to a home yet; those that share its database see one change.
        return nullcontext()

    async def serve_stdio(self, settings: "Settings") -> None:
        from quarterdeck.serve import serve_stdio

        await serve_stdio(settings)

    async def serve_http(self, settings: "Settings", announce: Callable[[str], None]) -> None:
        from quarterdeck.serve import serve_http

        await serve_http(settings, announce)

    async def count_tools(self, settings: "Settings") -> int:
        from quarterdeck.serve import count_tools

        return await count_tools(settings)


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
