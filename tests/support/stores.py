"""Both databases, migrated and empty, with the repositories that speak to them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Generic, TypeVar

import pytest

from quarterdeck.domain.json import JsonObject, dump
from quarterdeck.domain.memory import DEFAULT_NAMESPACE, MemoryEntry
from quarterdeck.domain.projects import Project
from quarterdeck.domain.roles import Role
from quarterdeck.ports.repositories import (
    DaemonRepository,
    DefinitionRepository,
    MemoryRepository,
    TokenRepository,
    TraceRepository,
)
from quarterdeck.ports.store import Store, Transaction
from quarterdeck.repositories.sql import migrate
from quarterdeck.repositories.sql.daemons import SqlDaemonRepository
from quarterdeck.repositories.sql.memory import SqlMemoryRepository
from quarterdeck.repositories.sql.memory_index import (
    POSTGRES_SPELLING,
    SQLITE_SPELLING,
    MemoryIndex,
)
from quarterdeck.repositories.sql.postgres import PostgresStore
from quarterdeck.repositories.sql.projects import SqlProjectRepository, SqlRoleRepository
from quarterdeck.repositories.sql.sqlite import SqliteStore
from quarterdeck.repositories.sql.tokens import SqlTokenRepository
from quarterdeck.repositories.sql.traces import SqlTraceRepository

KINDS = ("sqlite", "postgres")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATIENCE_SECONDS = 10

T = TypeVar("T")


class Gate(Generic[T]):
    """A decision that waits, in the database's own thread, until it is let through."""

    def __init__(self, decide: Callable[[Transaction], T]) -> None:
        self._decide = decide
        self._entered, self._opened = Event(), Event()

    def __call__(self, tx: Transaction) -> T:
        self._entered.set()
        assert self._opened.wait(PATIENCE_SECONDS), "nobody opened the gate"
        return self._decide(tx)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._entered.wait, PATIENCE_SECONDS), "nobody came"

    def open(self) -> None:
        self._opened.set()


@dataclass(frozen=True)
class Database:
    """A store with its repositories; `connect` opens another store on the same data."""

    connect: Callable[[], Store]
    store: Store
    memory: MemoryRepository
    traces: TraceRepository = field(default_factory=SqlTraceRepository)
    daemons: DaemonRepository = field(default_factory=SqlDaemonRepository)
    tokens: TokenRepository = field(default_factory=SqlTokenRepository)
    projects: DefinitionRepository[Project] = field(default_factory=SqlProjectRepository)
    roles: DefinitionRepository[Role] = field(default_factory=SqlRoleRepository)

    def put(
        self,
        tx: Transaction,
        key: str,
        value: JsonObject | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        now: datetime = NOON,
    ) -> bool:
        value = value or {}
        return self.memory.put(tx, namespace, key, value, dump(value), now)

    async def keep(
        self,
        key: str,
        value: JsonObject | None = None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        now: datetime = NOON,
    ) -> bool:
        return await self.store.write(
            lambda tx: self.put(tx, key, value, namespace=namespace, now=now)
        )

    def has(self, key: str) -> Callable[[Transaction], bool]:
        return lambda tx: self.memory.find(tx, DEFAULT_NAMESPACE, key) is not None

    async def find(self, key: str, *, namespace: str = DEFAULT_NAMESPACE) -> MemoryEntry | None:
        return await self.store.read(lambda tx: self.memory.find(tx, namespace, key))

    async def keys(self, *, namespace: str | None = None, prefix: str = "") -> list[str]:
        rows = await self.store.read(
            lambda tx: self.memory.list(tx, namespace, prefix, after=0, limit=10_000)
        )
        return [row.key for row in rows]

    async def clear(self) -> None:
        def decide(tx: Transaction) -> None:
            for entry in self.memory.list(tx, None, "", after=0, limit=10_000):
                self.memory.remove(tx, entry.namespace, entry.key)

        await self.store.write(decide)

    async def search(
        self, query: str, *, namespace: str | None = None, limit: int = 100
    ) -> list[str]:
        rows = await self.store.read(lambda tx: self.memory.search(tx, query, namespace, limit))
        return [row.key for row in rows]


def sqlite_database(path: Path) -> Database:
    migrate.prepare_sqlite(path)
    return Database(
        lambda: SqliteStore(path),
        SqliteStore(path),
        SqlMemoryRepository(MemoryIndex(SQLITE_SPELLING)),
    )


def postgres_database(url: str) -> Database:
    migrate.upgrade_postgres(url)
    return Database(
        lambda: PostgresStore(url),
        PostgresStore(url),
        SqlMemoryRepository(MemoryIndex(POSTGRES_SPELLING)),
    )


@pytest.fixture(params=KINDS)
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database of the test's own, once on each kind of server."""
    if request.param == "sqlite":
        opened = sqlite_database(tmp_path / "quarterdeck.db")
    else:
        opened = postgres_database(request.getfixturevalue("postgres_url"))
    yield opened
    await opened.store.close()
