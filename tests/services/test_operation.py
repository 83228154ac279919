"""What `@operation` does around a service method, whichever surface called it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio
import pytest

from quarterdeck.domain.access import ALL_SCOPES, Scope
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.guard import Request
from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.errors import Conflict, Denied, NotFound
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.daemons import SqlDaemonRepository
from quarterdeck.services.calls import Call
from quarterdeck.services.operation import Operation, Operations, operation
from quarterdeck.testing import Deck
from tests.support.records import all_rows, children_of, newest_trace, payload_of, root_traces
from tests.support.refusing import refused_traces
from tests.support.stores import NOON
from tests.support.workshop import Made, Workshop

T = TypeVar("T")


async def serve(deck: Deck, body: Callable[[], Awaitable[T]], *, recorded: bool = True) -> T:
    call = Call(surface="cli", name="cli.work", input={"sent": True}, recorded=recorded)
    return await deck.quarterdeck.calls.serve(call, body)


async def test_a_service_used_without_a_call_is_a_bug(deck: Deck) -> None:
    with pytest.raises(AssertionError, match="open a call"):
        await deck.quarterdeck.memory.list()
    assert await root_traces(deck) == []


async def test_a_long_operation_shows_an_open_trace_while_it_works(deck: Deck) -> None:
    workshop = Workshop(deck)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, deck, workshop.build)
        await workshop.entered.wait()
        running = await newest_trace(deck)
        assert running.status is TraceStatus.RUNNING
        assert running.ended_at is None
        kinds = [event.type for event in running.events]
        assert kinds == [EventType.RUN_START, EventType.TOOL_INVOKE]
        workshop.released.set()
    [ended] = await root_traces(deck)
    assert ended.status is TraceStatus.SUCCESS
    assert [event.sequence for event in ended.events] == [1, 2, 3, 4]
    assert ended.event_count == 4
    assert payload_of(ended, EventType.TOOL_RESULT)["output"] == {"text": "built"}


async def test_a_long_operation_that_fails_closes_its_trace_as_failed(deck: Deck) -> None:
    workshop = Workshop(deck)
    workshop.failure = Conflict("The bench is taken")
    with pytest.raises(Conflict):
        await serve(deck, workshop.build_badly)
    [trace] = await root_traces(deck)
    assert trace.status is TraceStatus.FAILURE
    assert [event.sequence for event in trace.events] == [1, 2, 3, 4, 5]
    assert payload_of(trace, EventType.ERROR)["code"] == "CONFLICT"


async def test_a_failing_decision_is_rolled_back_and_its_trace_is_kept(deck: Deck) -> None:
    workshop = Workshop(deck)
    workshop.failure = Conflict("Changed my mind")

    def write(tx: Transaction) -> None:
        SqlDaemonRepository().add(tx, "daemon", "node", "host", NOON)

    before = all_rows(deck)["daemons"]
    with pytest.raises(Conflict):
        await serve(deck, partial(workshop.roll_back, write))
    assert all_rows(deck)["daemons"] == before
    [trace] = await root_traces(deck)
    assert trace.status is TraceStatus.FAILURE


async def test_what_fails_after_its_commit_keeps_the_trace_of_what_was_committed(
    deck: Deck,
) -> None:
    class Clumsy:
        operations = deck.quarterdeck.memory.operations

        @operation("clumsy.work", Effect.WRITE)
        async def work(self, op: Operation) -> Made:
            await op.commit(lambda _tx: Made(text="committed"))
            raise Conflict("Stumbled on the way out")

    with pytest.raises(Conflict):
        await serve(deck, Clumsy().work)
    [trace] = await root_traces(deck)
    assert payload_of(trace, EventType.TOOL_RESULT)["output"] == {"text": "committed"}


async def test_a_rule_refuses_before_anything_runs_and_the_refusal_is_traced(deck: Deck) -> None:
    asked: list[Request] = []

    def no_work(request: Request) -> None:
        asked.append(request)
        raise Denied("Not today", details={"rule": "no-work"})

    workshop = Workshop(deck)
    workshop.operations = with_rule(deck, no_work)
    with pytest.raises(Denied):
        await serve(deck, workshop.build)
    assert asked == [
        Request("workshop.build", Effect.WRITE, Scope.WRITE, ALL_SCOPES, "cli", "local")
    ]
    assert not workshop.entered.is_set()
    [trace] = await root_traces(deck)
    assert payload_of(trace, EventType.ERROR) == {"code": "DENIED", "message": "Not today"}


def with_rule(deck: Deck, rule: Callable[[Request], None]) -> Operations:
    parts = deck.quarterdeck.memory.operations
    return Operations(parts.store, parts.recorder, parts.clock, rules=[rule])


async def test_an_unrecorded_call_works_and_leaves_no_trace(deck: Deck) -> None:
    workshop, memory = Workshop(deck), deck.quarterdeck.memory
    workshop.released.set()
    workshop.failure = Conflict("Busy")
    quietly = partial(serve, deck, recorded=False)
    await quietly(partial(memory.store, "k", {"v": 1}))
    assert (await quietly(partial(memory.retrieve, "k"))).found
    await quietly(workshop.build)
    await quietly(partial(workshop.nest, "n"))
    with pytest.raises(Conflict):
        await quietly(workshop.fail)
    with pytest.raises(Conflict):
        await quietly(workshop.build_badly)
    assert all_rows(deck)["traces"] == []
    assert (await quietly(memory.list)).total == 2


class Family:
    """Operations that call operations."""

    def __init__(self, deck: Deck) -> None:
        self.operations = deck.quarterdeck.memory.operations

    @operation("family.parent", Effect.WRITE)
    async def parent(self, _op: Operation) -> Made:
        try:
            await self.child("first")
        except NotFound:
            await self.child("second", fails=False)
        return Made(text="done")

    @operation("family.child", Effect.READ)
    async def child(self, _op: Operation, name: str, *, fails: bool = True) -> Made:
        await self.grandchild()
        if fails:
            raise NotFound(f"{name} is away")
        return Made(text=name)

    @operation("family.grandchild", Effect.READ)
    async def grandchild(self, _op: Operation) -> Made:
        return Made(text="hello")


async def test_each_operation_is_a_child_of_the_one_that_called_it(deck: Deck) -> None:
    await serve(deck, Family(deck).parent)
    [root] = await root_traces(deck)
    first, second = await children_of(deck, root)
    assert (root.workflow_id, root.status) == ("cli.work", TraceStatus.SUCCESS)
    assert payload_of(root, EventType.TOOL_INVOKE)["input"] == {"sent": True}
    assert (first.status, second.status) == (TraceStatus.FAILURE, TraceStatus.SUCCESS)
    assert payload_of(first, EventType.TOOL_INVOKE) == {
        "toolName": "family.child",
        "input": {"name": "first"},
    }
    assert payload_of(second, EventType.TOOL_INVOKE)["input"] == {"name": "second", "fails": False}
    for child in (first, second):
        [grandchild] = await children_of(deck, child)
        assert grandchild.workflow_id == "family.grandchild"


async def test_operations_side_by_side_are_children_of_the_same_root(deck: Deck) -> None:
    family = Family(deck)

    async def greet() -> None:
        await family.grandchild()

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(greet)
            tasks.start_soon(greet)

    await serve(deck, both)
    [root] = await root_traces(deck)
    [other] = await children_of(deck, root)
    assert (root.operation, other.operation) == ("family.grandchild", "family.grandchild")


async def test_a_failure_that_cannot_be_recorded_is_still_the_one_reported(
    deck: Deck, caplog: pytest.LogCaptureFixture
) -> None:
    workshop = Workshop(deck)
    workshop.failure = Conflict("The first failure")
    with refused_traces(deck):
        for body in (workshop.fail, raising(workshop.failure)):
            with pytest.raises(Conflict, match="The first failure"):
                await serve(deck, body)
    assert [message.partition(" of a")[0] for message in caplog.messages] == [
        "Could not write the trace",
        "Could not write the trace",
    ]


def raising(error: Exception) -> Callable[[], Awaitable[None]]:
    async def body() -> None:
        raise error

    return body


async def test_a_success_that_cannot_be_recorded_is_no_success(deck: Deck) -> None:
    memory = deck.quarterdeck.memory
    with refused_traces(deck), pytest.raises(Exception, match="traces"):
        await serve(deck, partial(memory.store, "k", {"v": 1}))
    assert not (await serve(deck, partial(memory.retrieve, "k"))).found
