"""Databases full of memory entries; a filled SQLite file is kept in the user's cache."""

import hashlib
import itertools
import json
import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import dataset
from bench.dataset import Dataset, Entry
from quarterdeck.domain import search
from quarterdeck.domain.json import dump
from quarterdeck.ports.repositories import MemoryRepository
from quarterdeck.ports.store import Store, Transaction
from quarterdeck.repositories.sql import memory, memory_index, migrate
from quarterdeck.repositories.sql.memory import SqlMemoryRepository
from quarterdeck.repositories.sql.memory_index import SQLITE_SPELLING, MemoryIndex
from quarterdeck.repositories.sql.migrations.versions import m0001_memory_and_traces
from quarterdeck.repositories.sql.sqlite import SqliteStore

TRANSACTION = 5_000
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
FIGURES = "filled.json"
# What a filled file depends on; when one of them changes, it is filled anew.
SOURCES = (dataset, search, memory, memory_index, m0001_memory_and_traces)


@dataclass(frozen=True)
class Filled:
    """What filling took, as it was when it was done."""

    entries: int
    seconds: float
    bytes: int


async def filled_home(count: int) -> tuple[Path, Filled]:
    """Return a home whose database has the first `count` entries."""
    home = _cache() / f"{count}-{_digest()}"
    if not home.exists():
        for stale in _cache().glob(f"{count}-*"):
            shutil.rmtree(stale)
        unfinished = _cache() / f"unfinished-{os.getpid()}"
        unfinished.mkdir(mode=0o700, parents=True)
        try:
            await _fill_file(unfinished, count)
            unfinished.rename(home)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return home, Filled(**json.loads((home / FIGURES).read_text(encoding="utf-8")))


async def fill(store: Store, memory: MemoryRepository, entries: Iterable[Entry]) -> None:
    """Put entries, some thousands in a transaction."""
    numbered = enumerate(entries)
    while batch := list(itertools.islice(numbered, TRANSACTION)):

        def decide(tx: Transaction, batch: list[tuple[int, Entry]] = batch) -> None:
            for number, entry in batch:
                now = FIRST + timedelta(seconds=number)
                memory.put(tx, entry.namespace, entry.key, entry.value, dump(entry.value), now)

        await store.write(decide)


async def _fill_file(home: Path, count: int) -> None:
    path = home / "quarterdeck.db"
    migrate.prepare_sqlite(path)
    store = SqliteStore(path)
    start = time.perf_counter()
    try:
        await fill(
            store, SqlMemoryRepository(MemoryIndex(SQLITE_SPELLING)), Dataset().entries(count)
        )
    finally:
        await store.close()
    filled = Filled(count, time.perf_counter() - start, path.stat().st_size)
    (home / FIGURES).write_text(json.dumps(asdict(filled)), encoding="utf-8")


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "quarterdeck-bench"


def _digest() -> str:
    sources = [Path(str(module.__file__)).read_bytes() for module in SOURCES]
    return hashlib.sha256(b"".join(sources)).hexdigest()[:12]
