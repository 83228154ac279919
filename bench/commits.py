"""Grouped commits against one commit a write, on the same store."""

import itertools
import time
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from statistics import median

import anyio

from bench.cases import VALUE
from bench.figures import milliseconds, times
from bench.homes import new_home
from bench.report import Row, Section
from quarterdeck.domain.json import dump
from quarterdeck.domain.memory import DEFAULT_NAMESPACE
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql import migrate, sqlite
from quarterdeck.repositories.sql.memory import SqlMemoryRepository
from quarterdeck.repositories.sql.memory_index import SQLITE_SPELLING, MemoryIndex

WRITERS = (1, 8, 32, 128)
WRITES = 1_280
REPEATS = 7
COLUMNS = (
    "writers",
    "writes / s",
    "one a commit",
    "ratio",
    "CPU a write",
    "one a commit",
    "ratio",
)
ABOUT = (
    "The store as it is, which commits everything that waits at once, against the same store told"
    f" to take one write a commit; they take turns, {REPEATS} times {WRITES:,} writes, medians."
    " `synchronous = FULL`. CPU is that of the whole process."
)


class Writers:
    """Memory entries on their way into one store."""

    def __init__(self, store: sqlite.SqliteStore) -> None:
        self._store = store
        self._memory = SqlMemoryRepository(MemoryIndex(SQLITE_SPELLING))
        self._numbers = itertools.count()

    async def write(self, at_once: int, writes: int) -> tuple[float, float]:
        """Return the seconds and the CPU seconds that one write took."""
        waiting = itertools.islice(self._numbers, writes)
        start, cpu = time.perf_counter(), time.process_time()
        async with anyio.create_task_group() as writers:
            for _ in range(at_once):
                writers.start_soon(self._writer, waiting)
        return (time.perf_counter() - start) / writes, (time.process_time() - cpu) / writes

    async def _writer(self, waiting: Iterator[int]) -> None:
        for number in waiting:
            await self._store.write(lambda tx, number=number: self._put(tx, number))

    def _put(self, tx: Transaction, number: int) -> None:
        key, now = f"project/deploy/note-{number:06d}", datetime.now(UTC)
        self._memory.put(tx, DEFAULT_NAMESPACE, key, VALUE, dump(VALUE), now)


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    with new_home() as home:
        path = home / "quarterdeck.db"
        migrate.prepare_sqlite(path)
        store = sqlite.SqliteStore(path)
        try:
            writers = Writers(store)
            rows = [await _compared(writers, at_once, quick=quick) for at_once in WRITERS]
        finally:
            await store.close()
    yield Section("Grouped commits", ABOUT, COLUMNS, rows)


async def _compared(writers: Writers, at_once: int, *, quick: bool) -> Row:
    writes, repeats = (256, 2) if quick else (WRITES, REPEATS)
    grouped: list[tuple[float, float]] = []
    single: list[tuple[float, float]] = []
    for _ in range(repeats):
        with _one_a_commit():
            single.append(await writers.write(at_once, writes))
        grouped.append(await writers.write(at_once, writes))
    (wall, cpu), (one_wall, one_cpu) = _medians(grouped), _medians(single)
    cells = (
        str(at_once),
        f"{1 / wall:,.0f}",
        f"{1 / one_wall:,.0f}",
        times(one_wall / wall),
        milliseconds(cpu),
        milliseconds(one_cpu),
        times(cpu / one_cpu),
    )
    return Row(cells, f"{at_once} at once, each waiting for its commit before the next write")


def _medians(samples: list[tuple[float, float]]) -> tuple[float, float]:
    return median(wall for wall, _ in samples), median(cpu for _, cpu in samples)


@contextmanager
def _one_a_commit() -> Generator[None]:
    usual = sqlite.BATCH
    sqlite.BATCH = 1
    try:
        yield
    finally:
        sqlite.BATCH = usual
