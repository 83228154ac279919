"""What every store promises: one decision, one transaction, acknowledged when it is durable."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import psycopg
import pytest
from anyio import wait_all_tasks_blocked
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.store import Transaction
from tests.support.stores import NOON, Database, Gate

WRITERS = 32
BROKEN_CONSTRAINT = (sqlite3.IntegrityError, psycopg.IntegrityError)


@asynccontextmanager
async def behind_a_gate(database: Database) -> AsyncGenerator[TaskGroup]:
    """Start tasks while a writer is busy, so that their decisions wait together."""
    gate = Gate(lambda tx: database.put(tx, "gate"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.store.write, gate)
        await gate.reached()
        try:
            yield tasks
            await wait_all_tasks_blocked()
        finally:
            gate.open()


async def test_the_writes_of_one_decision_are_all_there_afterwards(database: Database) -> None:
    def decide(tx: Transaction) -> str:
        database.put(tx, "first")
        database.put(tx, "second")
        return "done"

    assert await database.store.write(decide) == "done"
    assert await database.keys() == ["first", "second"]


async def test_an_exception_leaves_nothing_of_its_decision_and_all_of_the_others(
    database: Database,
) -> None:
    def decide(tx: Transaction) -> None:
        database.put(tx, "half")
        raise LookupError("changed my mind")

    await database.keep("before")
    with pytest.raises(LookupError, match="changed my mind"):
        await database.store.write(decide)
    await database.keep("after")
    assert await database.keys() == ["before", "after"]


async def test_of_32_writers_at_once_the_one_that_breaks_a_constraint_fails_alone(
    database: Database,
) -> None:
    await database.store.write(
        lambda tx: database.daemons.add(tx, "daemon-17", "node", "host", NOON)
    )
    refused: list[int] = []

    async def write(number: int) -> None:
        def decide(tx: Transaction) -> None:
            database.put(tx, f"key-{number:02}", {"word": f"w{number}"})
            database.daemons.add(tx, f"daemon-{number}", "node", "host", NOON)

        try:
            await database.store.write(decide)
        except BROKEN_CONSTRAINT:
            refused.append(number)

    async with behind_a_gate(database) as tasks:
        for number in range(WRITERS):
            tasks.start_soon(write, number)

    assert refused == [17]
    kept = [f"key-{number:02}" for number in range(WRITERS) if number != 17]
    assert sorted(await database.keys(prefix="key-")) == kept
    for number in range(WRITERS):
        assert await database.search(f"w{number}") == [k for k in kept if k == f"key-{number:02}"]


async def test_a_reader_sees_every_acknowledged_write(database: Database) -> None:
    async def write_and_look(number: int) -> None:
        key = f"key-{number}"
        await database.keep(key)
        assert await database.find(key) is not None

    async with anyio.create_task_group() as tasks:
        for number in range(WRITERS):
            tasks.start_soon(write_and_look, number)


async def test_a_read_is_one_snapshot_while_others_write(database: Database) -> None:
    await database.keep("old")
    gate = Gate(lambda tx: database.memory.count(tx, None, ""))

    def look(tx: Transaction) -> tuple[int, int]:
        return database.memory.count(tx, None, ""), gate(tx)

    counts = asyncio.create_task(database.store.read(look))
    await gate.reached()
    await database.keep("new")
    gate.open()
    assert await counts == (1, 1)


async def test_a_read_cannot_change_anything(database: Database) -> None:
    with pytest.raises((StorageUnavailable, psycopg.errors.ReadOnlySqlTransaction)):
        await database.store.read(lambda tx: database.put(tx, "smuggled"))
    assert await database.keys() == []
    await database.keep("declared")
    assert await database.keys() == ["declared"]


async def test_a_decision_is_committed_although_a_cancel_scope_around_its_caller_is_cancelled(
    database: Database,
) -> None:
    gate = Gate(lambda tx: database.put(tx, "key"))
    scope, reached = anyio.CancelScope(), list[str]()

    async def caller() -> None:
        with scope:
            await database.store.write(gate)
            reached.append("the answer")
            await checkpoint()
            reached.append("the code after the cancellation")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(caller)
        await gate.reached()
        scope.cancel()
        await wait_all_tasks_blocked()
        gate.open()

    assert reached == ["the answer"]
    assert scope.cancelled_caught
    assert await database.keys() == ["key"]


@pytest.mark.parametrize("times", [1, 2])
async def test_a_decision_is_committed_although_its_task_is_cancelled(
    database: Database, times: int
) -> None:
    gate = Gate(lambda tx: database.put(tx, "key"))
    reached = list[str]()

    async def caller() -> None:
        await database.store.write(gate)
        reached.append("the answer")
        await checkpoint()
        reached.append("the code after the cancellation")

    task = asyncio.create_task(caller())
    await gate.reached()
    for _ in range(times):
        task.cancel()
        await wait_all_tasks_blocked()
    gate.open()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert reached == ["the answer"]
    assert await database.keys() == ["key"]


async def test_a_rolled_back_decision_reports_its_error_before_the_cancellation(
    database: Database,
) -> None:
    def refuse(_tx: Transaction) -> None:
        raise LookupError

    gate = Gate(refuse)
    reached = list[str]()

    async def caller() -> None:
        try:
            await database.store.write(gate)
        except LookupError:
            reached.append("the error")
        await checkpoint()

    task = asyncio.create_task(caller())
    await gate.reached()
    task.cancel()
    await wait_all_tasks_blocked()
    gate.open()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reached == ["the error"]


async def test_a_timeout_around_a_write_is_still_a_timeout(database: Database) -> None:
    gate = Gate(lambda tx: database.put(tx, "key"))

    async def caller() -> None:
        async with asyncio.timeout(None) as deadline:
            deadlines.append(deadline)
            await database.store.write(gate)
            await checkpoint()

    deadlines = list[asyncio.Timeout]()
    task = asyncio.create_task(caller())
    await gate.reached()
    deadlines[0].reschedule(asyncio.get_running_loop().time())
    await wait_all_tasks_blocked()
    gate.open()
    with pytest.raises(TimeoutError):
        await task
    assert await database.keys() == ["key"]


async def test_closing_finishes_what_was_handed_over(database: Database) -> None:
    store = database.connect()
    gate, read_gate = Gate(database.has("absent")), Gate(database.has("absent"))
    keys = [f"key-{number}" for number in range(WRITERS)]
    done = list[str]()

    async def write(key: str) -> None:
        await store.write(lambda tx: database.put(tx, key))
        done.append(key)

    async def look() -> None:
        await store.read(read_gate)
        done.append("look")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.write, gate)
        await gate.reached()
        for key in keys:
            tasks.start_soon(write, key)
            tasks.start_soon(look)
        await read_gate.reached()
        tasks.start_soon(store.close)
        await wait_all_tasks_blocked()
        gate.open()
        read_gate.open()

    assert sorted(done) == sorted([*keys, *["look"] * WRITERS])
    assert sorted(await database.keys()) == sorted(keys)


async def test_a_closed_store_says_that_storage_is_unavailable(database: Database) -> None:
    store = database.connect()
    await store.close()
    await store.close()
    with pytest.raises(StorageUnavailable):
        await store.write(lambda tx: database.put(tx, "late"))
    with pytest.raises(StorageUnavailable):
        await store.read(lambda tx: database.memory.count(tx, None, ""))
    assert await database.keys() == []
