"""What a process that starts does about those that died."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from quarterdeck.domain.redaction import Redactor
from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.repositories.presence import FilePresence
from quarterdeck.repositories.sql.daemons import SqlDaemonRepository
from quarterdeck.repositories.sql.traces import SqlTraceRepository
from quarterdeck.services.calls import Call
from quarterdeck.services.recorder import Recorder
from quarterdeck.testing import Deck, FixedClock, quarterdeck_for_tests
from tests.support.records import newest_trace, payload_of, store_of


@pytest.fixture
async def before(
    tmp_path: Path, database_url: str | None, clock: FixedClock
) -> AsyncIterator[Deck]:
    """A process that has been running since before the others."""
    async with quarterdeck_for_tests(tmp_path, database_url, clock) as opened:
        yield opened


async def leave_open(deck: Deck, clock: FixedClock, daemon_id: str, node_id: str) -> None:
    """Write what a process leaves that is killed in the middle of its work."""
    recorder = Recorder(SqlTraceRepository(), Redactor(), clock, daemon_id)
    call = Call(surface="mcp", name="mcp.build", input=None, call_id=f"of {daemon_id}")
    run = call.claim("x.build", started_at=clock.now(), ticks_us=clock.ticks_us())
    daemons = SqlDaemonRepository()
    await store_of(deck).write(lambda tx: daemons.add(tx, daemon_id, node_id, "host", clock.now()))
    await store_of(deck).write(lambda tx: recorder.write_start(tx, run))


def again(deck: Deck, clock: FixedClock) -> AbstractAsyncContextManager[Deck]:
    """Start another process of the same node."""
    settings = deck.quarterdeck.settings
    url = settings.database.url
    return quarterdeck_for_tests(settings.home, url.get_secret_value() if url else None, clock)


async def test_the_traces_of_a_dead_process_are_closed_as_interrupted(
    before: Deck, clock: FixedClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await leave_open(before, clock, "dead", FilePresence(tmp_path).node_id)
    async with again(before, clock):
        trace = await newest_trace(before)
        assert trace.status is TraceStatus.FAILURE
        assert payload_of(trace, EventType.ERROR)["code"] == "INTERRUPTED"
        assert "Closed 1 trace" in caplog.text
        assert "dead" not in await running(before, tmp_path)


async def test_what_lives_or_belongs_to_another_node_is_left_alone(
    before: Deck, clock: FixedClock, tmp_path: Path
) -> None:
    presence = FilePresence(tmp_path)
    presence.announce("alive")
    await leave_open(before, clock, "alive", presence.node_id)
    await leave_open(before, clock, "elsewhere", "another node")
    async with again(before, clock):
        running = await before.call("trace_list", {"status": "running"})
        assert len(running.answer["traces"]) == 2
    presence.forget("alive")


async def test_a_process_runs_until_it_ends_in_good_order(
    before: Deck, clock: FixedClock, tmp_path: Path
) -> None:
    ours = [before.quarterdeck.daemons.daemon_id]
    async with again(before, clock) as second:
        both = [*ours, second.quarterdeck.daemons.daemon_id]
        assert sorted(await running(before, tmp_path)) == sorted(both)
    assert await running(before, tmp_path) == ours


async def running(deck: Deck, home: Path) -> Sequence[str]:
    node_id = FilePresence(home).node_id
    return await store_of(deck).read(lambda tx: SqlDaemonRepository().list(tx, node_id))
