"""What the shared store does beyond the contract of all stores."""

import logging
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from threading import Barrier

import anyio
import psycopg
import pytest

from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql import postgres
from tests.support.postgres import PostgresServer, ServerProcess
from tests.support.stores import NOON, Database, postgres_database

WRITERS = 32
FAKE_PASSWORD = "not-a-real-" + "password"


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[Database]:
    opened = postgres_database(postgres_url)
    yield opened
    await opened.store.close()


async def increment(database: Database) -> None:
    await database.store.write(lambda tx: increment_in(tx, database))


def increment_in(tx: Transaction, database: Database) -> None:
    entry = database.memory.find(tx, "default", "counter")
    seen = entry.value["n"] if entry else 0
    assert isinstance(seen, int)
    database.put(tx, "counter", {"n": seen + 1})


async def test_of_two_that_read_the_same_value_before_they_write_none_is_lost(
    database: Database,
) -> None:
    both_have_read, attempts = Barrier(2, timeout=10), list[str]()

    def decide(tx: Transaction) -> None:
        database.memory.find(tx, "default", "counter")
        attempts.append("attempt")
        if len(attempts) <= 2:
            both_have_read.wait()
        increment_in(tx, database)

    await database.keep("counter", {"n": 0})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.store.write, decide)
        tasks.start_soon(database.store.write, decide)

    assert len(attempts) > 2, "one of them had to try again"
    entry = await database.find("counter")
    assert entry is not None
    assert entry.value == {"n": 2}


async def test_32_increments_of_one_value_at_once_all_count(database: Database) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(WRITERS):
            tasks.start_soon(increment, database)
    entry = await database.find("counter")
    assert entry is not None
    assert entry.value == {"n": WRITERS}


async def test_32_stores_of_the_same_new_key_at_once_leave_one_entry(database: Database) -> None:
    replaced = list[bool]()

    async def store(number: int) -> None:
        replaced.append(await database.keep("key", {"number": number, "word": f"w{number}"}))

    async with anyio.create_task_group() as tasks:
        for number in range(WRITERS):
            tasks.start_soon(store, number)

    assert sorted(replaced) == [False] + [True] * (WRITERS - 1)
    assert await database.keys() == ["key"]
    found = [await database.search(f"w{number}") for number in range(WRITERS)]
    assert sorted(found) == [[]] * (WRITERS - 1) + [["key"]]


async def test_a_duplicate_that_stays_is_reported_as_one(database: Database) -> None:
    await database.store.write(lambda tx: database.daemons.add(tx, "daemon", "node", "host", NOON))
    with pytest.raises(psycopg.errors.UniqueViolation):
        await database.store.write(
            lambda tx: database.daemons.add(tx, "daemon", "node", "host", NOON)
        )


async def test_a_conflict_that_never_ends_makes_storage_unavailable(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "ATTEMPTS", 2)
    attempts = list[str]()

    def decide(_tx: Transaction) -> None:
        attempts.append("attempt")
        raise psycopg.errors.SerializationFailure

    with pytest.raises(StorageUnavailable) as refusal:
        await database.store.write(decide)
    assert refusal.value.details == {"reason": "too many conflicting writes"}
    assert len(attempts) == 2


async def test_readers_are_not_disturbed_by_writers(database: Database) -> None:
    """A serializable reader could be told to try again; a snapshot never is."""
    await database.keep("counter", {"n": 0})

    async def look() -> None:
        for _ in range(5):
            assert await database.find("counter") is not None
            assert await database.keys() == ["counter"]

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(look)
            tasks.start_soon(increment, database)


@pytest.fixture
def server(postgres_server: PostgresServer) -> Iterator[ServerProcess]:
    """A server that the test may stop; the shared one has made its user by now."""
    del postgres_server
    folder = Path(tempfile.mkdtemp(prefix="qd-pg-")).resolve()
    process = ServerProcess(folder, cleanup_mode="stop")
    try:
        process.start()
        yield process
    finally:
        process.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


async def test_a_server_that_goes_away_is_unavailable_until_it_is_back(
    server: ServerProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(postgres, "POOL_TIMEOUT_SECONDS", 1)
    caplog.set_level(logging.DEBUG)
    socket_folder = server.get_postmaster_info().socket_dir
    url = f"postgresql://postgres:{FAKE_PASSWORD}@/postgres?host={socket_folder}"
    database = postgres_database(url)
    try:
        await database.keep("before")
        server.stop()
        for _ in range(3):
            with pytest.raises(StorageUnavailable) as refusal:
                await database.keep("meanwhile")
            assert FAKE_PASSWORD not in str(refusal.value.body())
        with pytest.raises(StorageUnavailable):
            await database.keys()
        server.ensure_postgres_running()
        await database.keep("after")
        assert await database.keys() == ["before", "after"]
    finally:
        await database.store.close()
    assert FAKE_PASSWORD not in caplog.text


async def test_a_connection_that_dies_inside_a_decision_makes_storage_unavailable_once(
    database: Database, postgres_url: str
) -> None:
    def decide(tx: Transaction) -> None:
        database.put(tx, "half")
        with psycopg.connect(postgres_url, autocommit=True) as outsider:
            outsider.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        database.put(tx, "other half")

    with pytest.raises(StorageUnavailable):
        await database.store.write(decide)
    await database.keep("next")
    assert await database.keys() == ["next"]
