"""A running Quarterdeck for one test, called as its MCP clients would call it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastmcp import Client, FastMCP

from quarterdeck.app import Quarterdeck, open_quarterdeck
from quarterdeck.ports.clock import Clock
from quarterdeck.settings import load_settings
from quarterdeck.testing.reply import Reply, call_tool
from quarterdeck.tools.server import Offer, Services, build_server


@dataclass(frozen=True)
class Deck:
    """The product, what its tools are built on, and its MCP server."""

    quarterdeck: Quarterdeck
    services: Services
    server: FastMCP[Any]

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Reply:
        """Call a tool over a connection of its own."""
        async with Client(self.server) as client:
            return await call_tool(client, tool, arguments)


@asynccontextmanager
async def quarterdeck_for_tests(
    home: Path,
    database_url: str | None = None,
    clock: Clock | None = None,
    *,
    settings: Mapping[str, object] | None = None,
) -> AsyncGenerator[Deck]:
    """Run a Quarterdeck in `home`; the real environment is not read.

    Without a `database_url` it is on SQLite; a PostgreSQL database must have been upgraded.
    `settings` are any others, by key: `{"server.read_only": True}`.
    """
    flags = {"home": home, "database.url": database_url, **(settings or {})}
    loaded = load_settings(flags=flags, environ={})
    # Not `serving`: it prunes in the background, at times that no test can foresee, and its task
    # group would wrap what the test raises.
    async with open_quarterdeck(loaded, clock=clock) as opened, opened.manned():
        services = Services(
            opened.calls, opened.fleet, opened.memory, opened.traces, opened.redactor
        )
        offer = Offer(loaded.server.toolsets, read_only=loaded.server.read_only)
        yield Deck(opened, services, build_server(services, offer))
