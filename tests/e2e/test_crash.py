"""A killed process loses nothing it has acknowledged, and leaves nothing open for ever."""

import random
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from dirty_equals import IsStr

from quarterdeck.app import Quarterdeck, open_quarterdeck
from quarterdeck.domain.trace import EventType, TraceGetResponse, TraceStatus
from quarterdeck.repositories.sql import migrate
from quarterdeck.services.calls import Call
from quarterdeck.settings import load_settings
from tests.support.children import Child, child, next_line
from tests.support.stores import Database, postgres_database, sqlite_database

SUPPORT = Path(__file__).parents[1] / "support"
ROUNDS = 20


@dataclass(frozen=True)
class Place:
    """Where a process keeps its state: a home, and a server's URL unless it is embedded."""

    home: Path
    url: str = ""

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Quarterdeck]:
        flags = {"home": self.home, "database.url": self.url or None}
        async with open_quarterdeck(load_settings(flags=flags, environ={})) as quarterdeck:
            yield quarterdeck

    def database(self) -> Database:
        if self.url:
            return postgres_database(self.url)
        return sqlite_database(self.home / "quarterdeck.db")


@pytest.fixture
def embedded(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def shared(tmp_path: Path, postgres_url: str) -> Place:
    migrate.upgrade_postgres(postgres_url)
    return Place(tmp_path, postgres_url)


@pytest.fixture(params=["embedded", "shared"])
def place(request: pytest.FixtureRequest) -> Place:
    return request.getfixturevalue(request.param)


@pytest.mark.timeout(300)
async def test_sqlite_loses_no_acknowledged_write_to_twenty_kills(embedded: Place) -> None:
    await kill_under_writers(embedded)


@pytest.mark.timeout(300)
async def test_postgresql_loses_no_acknowledged_write_to_twenty_kills(shared: Place) -> None:
    await kill_under_writers(shared)


async def kill_under_writers(place: Place) -> None:
    acknowledged = dict[str, str]()
    for number in range(ROUNDS):
        patience = random.randint(1, 300)  # noqa: S311 - any moment will do
        acknowledged |= acknowledged_before_a_kill(place, f"run{number}", patience)
        assert await lost(place, acknowledged) == []
    assert len(acknowledged) > ROUNDS


def acknowledged_before_a_kill(place: Place, run: str, patience: int) -> dict[str, str]:
    """Return the keys, and the ids of their traces, that a process printed until it was killed."""
    lines = list[str]()
    script = str(SUPPORT / "crash_writer.py")
    with child(script, str(place.home), place.url, run) as process:
        for _ in range(patience):
            lines.append(next_line(process))
        process.kill()
        lines += rest_of(process)
    assert all(lines), "the process ended before it was killed"
    return dict(map(str.split, lines))


def rest_of(process: Child) -> list[str]:
    assert process.stdout is not None
    *whole, _cut = process.stdout.read().decode().split("\n")
    return whole


async def lost(place: Place, acknowledged: dict[str, str]) -> list[str]:
    database = place.database()
    try:
        keys = set(await database.keys())
        traced = await database.store.read(
            lambda tx: {
                trace.trace_id: trace for trace in database.traces.list(tx, None, 1_000_000)
            }
        )
    finally:
        await database.store.close()
    return [
        key
        for key, trace_id in acknowledged.items()
        if key not in keys
        or trace_id not in traced
        or traced[trace_id].status is not TraceStatus.SUCCESS
    ]


async def trace_of(quarterdeck: Quarterdeck, trace_id: str) -> TraceGetResponse:
    call = Call(surface="cli", name="cli.trace_get", input={})
    return await quarterdeck.calls.serve(call, lambda: quarterdeck.traces.get(trace_id))


def long_worker(place: Place) -> AbstractContextManager[Child]:
    return child(str(SUPPORT / "long_worker.py"), str(place.home), place.url)


async def test_the_open_trace_of_a_killed_process_is_closed_as_interrupted_at_the_next_start(
    place: Place,
) -> None:
    with long_worker(place) as process:
        trace_id = next_line(process)
        process.kill()
        process.wait()

    async with place.opened() as quarterdeck:
        assert (await trace_of(quarterdeck, trace_id)).status is TraceStatus.RUNNING
        assert await quarterdeck.daemons.start() == 1
        trace = await trace_of(quarterdeck, trace_id)
        await quarterdeck.daemons.stop()
    assert trace.status is TraceStatus.FAILURE
    assert trace.end_time is not None
    *_, error, end = trace.events
    assert (error.type, end.type) == (EventType.ERROR, EventType.RUN_END)
    assert error.payload == {"code": "INTERRUPTED", "message": IsStr()}
    assert [event.sequence for event in trace.events] == [1, 2, 3, 4]

    async with place.opened() as quarterdeck:
        assert await quarterdeck.daemons.start() == 0
        assert await trace_of(quarterdeck, trace_id) == trace
        await quarterdeck.daemons.stop()


async def test_of_two_that_start_together_after_a_crash_only_one_closes_what_was_open(
    place: Place,
) -> None:
    with long_worker(place) as process:
        trace_id = next_line(process)

    closed = list[int]()

    async def start(quarterdeck: Quarterdeck) -> None:
        closed.append(await quarterdeck.daemons.start())

    async with place.opened() as one, place.opened() as other:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start, one)
            tasks.start_soon(start, other)
        trace = await trace_of(one, trace_id)
        await one.daemons.stop()
        await other.daemons.stop()
    assert sorted(closed) == [0, 1]
    assert [event.sequence for event in trace.events] == [1, 2, 3, 4]


async def test_the_open_trace_of_a_living_process_is_left_alone(place: Place) -> None:
    with long_worker(place) as process:
        trace_id = next_line(process)
        async with place.opened() as quarterdeck, quarterdeck.serving():
            assert (await trace_of(quarterdeck, trace_id)).status is TraceStatus.RUNNING


async def test_the_open_trace_of_another_nodes_process_is_left_alone(
    shared: Place, tmp_path: Path
) -> None:
    with long_worker(Place(tmp_path / "elsewhere", shared.url)) as process:
        trace_id = next_line(process)
        process.kill()
        process.wait()
    async with shared.opened() as quarterdeck, quarterdeck.serving():
        assert (await trace_of(quarterdeck, trace_id)).status is TraceStatus.RUNNING
