"""What the embedded store does beyond the contract of all stores."""

import asyncio
import sqlite3
import stat
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from sqlalchemy import text

from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql import migrate, sqlite
from quarterdeck.repositories.sql.sqlite import Durability, SqliteStore
from quarterdeck.repositories.sql.transaction import Statement, sql
from tests.support.stores import Database, Gate, sqlite_database

SYNCHRONOUS = Statement(text("PRAGMA synchronous"))
JOURNAL_MODE = Statement(text("PRAGMA journal_mode"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "quarterdeck.db"


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[Database]:
    database = sqlite_database(path)
    try:
        yield database
    finally:
        await database.store.close()


@pytest.fixture
def outsider(path: Path) -> Iterator[sqlite3.Connection]:
    """Another process's connection to the same file."""
    migrate.prepare_sqlite(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


async def test_decisions_that_wait_together_are_committed_together(
    path: Path, outsider: sqlite3.Connection
) -> None:
    visible_outside = list[int]()

    async with opened(path) as database, anyio.create_task_group() as tasks:
        gate = Gate(lambda tx: database.put(tx, "gate"))
        tasks.start_soon(database.store.write, gate)
        await gate.reached()
        for number in range(20):

            def decide(tx: Transaction, number: int = number) -> None:
                database.put(tx, f"key-{number}")
                assert database.memory.count(tx, None, "key-") == number + 1
                visible_outside.append(count(path))

            tasks.start_soon(database.store.write, decide)
        await wait_all_tasks_blocked()
        gate.open()

    assert visible_outside == [1] * 20, "the gate's own commit and none of the twenty"
    assert outsider.execute("SELECT count(*) FROM memory").fetchone() == (21,)


def count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM memory").fetchone()[0]


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("normal", 1)])
async def test_the_durability_setting_is_what_the_connection_does(
    path: Path, durability: Durability, level: int
) -> None:
    migrate.prepare_sqlite(path)
    store = SqliteStore(path, durability=durability)
    try:
        assert await store.write(lambda tx: sql(tx).row(SYNCHRONOUS, {})) == (level,)
        assert await store.write(lambda tx: sql(tx).row(JOURNAL_MODE, {})) == ("wal",)
    finally:
        await store.close()


async def test_writes_wait_for_the_disk_unless_told_otherwise(path: Path) -> None:
    async with opened(path) as database:
        assert await database.store.write(lambda tx: sql(tx).row(SYNCHRONOUS, {})) == (2,)


async def test_a_lock_held_too_long_makes_storage_unavailable_until_it_is_released(
    path: Path, outsider: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_SECONDS", 0.05)
    async with opened(path) as database:
        await database.keep("before")
        outsider.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageUnavailable) as refusal:
            await database.keep("meanwhile")
        assert refusal.value.details == {"reason": "database is locked"}
        assert await database.keys() == ["before"]
        outsider.execute("ROLLBACK")
        await database.keep("after")
        assert await database.keys() == ["before", "after"]


async def test_a_short_lock_of_another_process_is_waited_for(
    path: Path, outsider: sqlite3.Connection
) -> None:
    async with opened(path) as database:
        outsider.execute("BEGIN IMMEDIATE")
        write = asyncio.create_task(database.keep("key"))
        with anyio.move_on_after(0.3) as patience:
            await asyncio.shield(write)
        assert patience.cancelled_caught
        outsider.execute("ROLLBACK")
        await write


async def test_a_database_that_cannot_be_opened_is_unavailable(path: Path) -> None:
    store = SqliteStore(path / "no" / "such" / "folder.db")
    try:
        with pytest.raises(StorageUnavailable):
            await store.write(lambda tx: sql(tx).row(SYNCHRONOUS, {}))
        with pytest.raises(StorageUnavailable):
            await store.read(lambda tx: sql(tx).row(SYNCHRONOUS, {}))
    finally:
        await store.close()


async def test_a_decision_that_ends_the_transaction_fails_its_companions_and_not_the_next(
    path: Path,
) -> None:
    """A full disk makes SQLite roll everything back by itself."""
    unavailable = list[str]()

    def end_transaction(tx: Transaction) -> None:
        sql(tx).run(Statement(text("ROLLBACK")), {})
        raise sqlite3.OperationalError("database or disk is full")

    async with opened(path) as database:

        async def write(key: str) -> None:
            try:
                if key == "full":
                    await database.store.write(end_transaction)
                else:
                    await database.keep(key)
            except StorageUnavailable:
                unavailable.append(key)

        async with anyio.create_task_group() as tasks:
            gate = Gate(lambda tx: database.put(tx, "gate"))
            tasks.start_soon(database.store.write, gate)
            await gate.reached()
            for key in ("first", "full", "second"):
                tasks.start_soon(write, key)
            await wait_all_tasks_blocked()
            gate.open()
        await database.keep("next")
        assert unavailable == ["first", "full", "second"]
        assert await database.keys() == ["gate", "next"]


async def test_an_iterator_that_ends_inside_a_decision_does_not_leave_its_caller_waiting(
    path: Path,
) -> None:
    async with opened(path) as database:
        with anyio.fail_after(5), pytest.raises(RuntimeError):
            await database.store.write(lambda _tx: next(iter(())))


async def test_more_decisions_than_one_batch_holds_are_all_carried_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BATCH", 3)
    async with opened(path) as database:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(database.keep, f"key-{number}")
        assert len(await database.keys()) == 20


async def test_closing_leaves_one_private_file_that_holds_everything(path: Path) -> None:
    async with opened(path) as database:
        await database.keep("key")
        await database.find("key")
        beside = {file.name for file in path.parent.iterdir()}
        assert f"{path.name}-wal" in beside
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.glob("*.db*")}
        assert modes == {0o600}
    assert list(path.parent.glob("*.db*")) == [path]
