"""`memory_search` on PostgreSQL, for information."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import psycopg

from bench.dataset import Dataset
from bench.filling import fill
from bench.homes import new_home, opened
from bench.report import Row, Section
from bench.search import Decks, searches
from quarterdeck.repositories.sql import migrate
from quarterdeck.repositories.sql.memory import SqlMemoryRepository
from quarterdeck.repositories.sql.memory_index import POSTGRES_SPELLING, MemoryIndex
from quarterdeck.repositories.sql.postgres import PostgresStore
from tests.support.postgres import running_postgres

SIZES = (10_000, 100_000)
ABOUT = (
    "The same searches on a throw-away PostgreSQL server on this machine, after ANALYZE. The"
    " server does not wait for the disk here, so this is about finding, not about committing."
)


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    async with AsyncExitStack() as stack:
        server = stack.enter_context(running_postgres())
        home = stack.enter_context(new_home())
        decks: Decks = {}
        rows: list[Row] = []
        for size in (1_000, 10_000) if quick else SIZES:
            url = stack.enter_context(server.empty_database())
            seconds, size_bytes = await _fill(url, size)
            rows.append(_filling(size, seconds, size_bytes))
            decks[size] = await stack.enter_async_context(opened(home, url))
        yield await searches("Searching memory, PostgreSQL", ABOUT, decks)
    columns = ("filled with", "entries / s", "database", "an entry")
    yield Section("Filling memory, PostgreSQL", "For information.", columns, rows)


async def _fill(url: str, count: int) -> tuple[float, int]:
    migrate.upgrade_postgres(url)
    store = PostgresStore(url)
    start = time.perf_counter()
    try:
        await fill(
            store, SqlMemoryRepository(MemoryIndex(POSTGRES_SPELLING)), Dataset().entries(count)
        )
    finally:
        await store.close()
    seconds = time.perf_counter() - start
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return seconds, row[0]


def _filling(count: int, seconds: float, size_bytes: int) -> Row:
    cells = (
        f"{count:,} entries",
        f"{count / seconds:,.0f}",
        f"{size_bytes / 2**20:,.0f} MiB",
        f"{size_bytes / count:,.0f} bytes",
    )
    return Row(cells, "entries put through the repository, some thousands in a transaction")
