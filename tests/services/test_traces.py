"""How long traces are kept."""

from datetime import timedelta

import anyio

from quarterdeck.domain.trace import TraceStatus
from quarterdeck.services.calls import Call
from quarterdeck.services.traces import PRUNE_BATCH
from quarterdeck.testing import Deck, FixedClock
from tests.support.records import root_traces
from tests.support.workshop import Workshop


async def record(deck: Deck, *names: str) -> None:
    async def body() -> None:
        return None

    for name in names:
        await deck.quarterdeck.calls.serve(Call(surface="cli", name=name, input=None), body)


async def kept(deck: Deck) -> list[str]:
    return [trace.workflow_id for trace in await root_traces(deck)]


async def test_traces_past_their_age_are_pruned(deck: Deck, clock: FixedClock) -> None:
    await record(deck, "cli.oldest", "cli.old")
    clock.advance(timedelta(days=2))
    await record(deck, "cli.new")
    traces = deck.quarterdeck.traces
    assert await traces.prune(retention_days=3, max_traces=100) == 0
    assert await traces.prune(retention_days=1, max_traces=100) == 2
    assert await kept(deck) == ["cli.new"]
    assert await traces.prune(retention_days=1, max_traces=100) == 0


async def test_traces_beyond_the_count_are_pruned_oldest_first(deck: Deck) -> None:
    await record(deck, *(f"cli.{number}" for number in range(5)))
    assert await deck.quarterdeck.traces.prune(retention_days=30, max_traces=2) == 3
    assert await kept(deck) == ["cli.4", "cli.3"]


async def test_more_than_a_batch_is_pruned_in_one_go(deck: Deck) -> None:
    await record(deck, *(f"cli.{number}" for number in range(PRUNE_BATCH + 1)))
    assert await deck.quarterdeck.traces.prune(retention_days=30, max_traces=0) == PRUNE_BATCH + 1


async def test_pruning_ends_although_calls_keep_coming(deck: Deck) -> None:
    await record(deck, *(f"cli.{number}" for number in range(PRUNE_BATCH + 10)))
    ended = anyio.Event()

    async def keep_calling() -> None:
        while not ended.is_set():
            await record(deck, "cli.more")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_calling)
        pruned = await deck.quarterdeck.traces.prune(retention_days=30, max_traces=5)
        ended.set()
        assert pruned > PRUNE_BATCH


async def test_work_that_goes_on_is_never_pruned(deck: Deck, clock: FixedClock) -> None:
    workshop, calls = Workshop(deck), deck.quarterdeck.calls
    async with anyio.create_task_group() as tasks:
        call = Call(surface="cli", name="cli.build", input=None)
        tasks.start_soon(calls.serve, call, workshop.build)
        await workshop.entered.wait()
        clock.advance(timedelta(days=100))
        await deck.quarterdeck.traces.prune(retention_days=1, max_traces=0)
        [trace] = await root_traces(deck)
        assert trace.status is TraceStatus.RUNNING
        workshop.released.set()
    assert await kept(deck) == ["cli.build"]
