"""The running product on both databases, and MCP clients of both protocol eras."""

import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest
from fastmcp import Client, FastMCP
from mcp.types import Notification, Request
from psycopg import sql
from pydantic import TypeAdapter

from quarterdeck.repositories.sql import migrate
from quarterdeck.testing import Deck, FixedClock, Reply, call_tool, quarterdeck_for_tests
from tests.support.postgres import PostgresServer

Era = Literal["auto", "legacy"]
ERAS: tuple[Era, ...] = ("auto", "legacy")
DATABASES = ("sqlite", "postgres")

_ANYTHING: TypeAdapter[Any] = TypeAdapter(object)


class ToolClient:
    """A connected client; `mcp` is FastMCP's own, for everything but plain tool calls."""

    def __init__(self, mcp: Client[Any]) -> None:
        self.mcp = mcp

    async def call(self, tool: str, /, **arguments: object) -> Reply:
        return await call_tool(self.mcp, tool, arguments)

    async def answer(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        """Return the answer of a call that succeeds."""
        return (await self.call(tool, **arguments)).answer

    async def refusal(self, tool: str, /, **arguments: object) -> dict[str, str]:
        """Return what is wrong with each argument of a call that is INVALID_INPUT."""
        error = (await self.call(tool, **arguments)).error
        assert error["code"] == "INVALID_INPUT", error
        return {item["field"]: item["problem"] for item in error["details"]["fields"]}

    async def request(self, method: str, params: dict[str, Any] | None) -> Any:  # noqa: ANN401 - the raw result
        """Send a request as it is, sound or not."""
        message = Request[Any, Any](method=method, params=params)
        return await self.mcp.session.send_request(message, _ANYTHING)

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification as it is."""
        message: Any = Notification[Any, Any](method=method, params=params)
        await self.mcp.session.send_notification(message)


@asynccontextmanager
async def connected(server: FastMCP[Any], era: Era = "auto") -> AsyncGenerator[ToolClient]:
    async with Client(server, mode=era) as mcp:
        yield ToolClient(mcp)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database file to copy, because migrating takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "quarterdeck.db"
    migrate.prepare_sqlite(path)
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: PostgresServer) -> Iterator[str]:
    """One database for all tests of this process; creating one for each takes too long."""
    with postgres_server.empty_database() as url:
        migrate.upgrade_postgres(url)
        yield url


@pytest.fixture
def emptied_postgres(migrated_postgres: str) -> str:
    with psycopg.connect(migrated_postgres) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables"
            " WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
        ).fetchall()
        for (table,) in tables:
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    return migrated_postgres


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """What `deck` runs on; `None` is SQLite, whose file lies in the test's folder."""
    if request.param == "postgres":
        return request.getfixturevalue("emptied_postgres")
    shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path)
    return None


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
async def deck(tmp_path: Path, database_url: str | None, clock: FixedClock) -> AsyncIterator[Deck]:
    """The product, empty, once on each database."""
    async with quarterdeck_for_tests(tmp_path, database_url, clock) as opened:
        yield opened


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


@pytest.fixture
async def client(deck: Deck, era: Era) -> AsyncIterator[ToolClient]:
    """A client of `deck`, once in each protocol era."""
    async with connected(deck.server, era) as opened:
        yield opened
