"""Cancelling a request stops the waiting and nothing else."""

import anyio
import pytest

from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.testing import Deck
from tests.requirements import requirement
from tests.support.clients import Era, ToolClient, connected
from tests.support.records import newest_trace, payload_of, root_traces
from tests.support.workshop import Workshop, server_with, workshop_tools


async def test_a_cancelled_call_ends_as_cancelled(deck: Deck, era: Era) -> None:
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop)), era) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call, "wait")
            await workshop.entered.wait()
            tasks.cancel_scope.cancel()
        await workshop.left.wait()
    [trace] = await root_traces(deck)
    assert trace.status is TraceStatus.FAILURE
    error = {"code": "CANCELLED", "message": "The request was cancelled"}
    assert payload_of(trace, EventType.ERROR) == error
    assert payload_of(trace, EventType.TOOL_RESULT)["output"] == {
        "success": False,
        "error": error | {"details": {}},
    }


async def test_a_cancelled_long_call_closes_its_open_trace(deck: Deck, era: Era) -> None:
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop)), era) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call, "build")
            await workshop.entered.wait()
            assert (await newest_trace(deck)).status is TraceStatus.RUNNING
            tasks.cancel_scope.cancel()
        await workshop.left.wait()
    [trace] = await root_traces(deck)
    assert trace.status is TraceStatus.FAILURE
    assert [event.sequence for event in trace.events] == [1, 2, 3, 4, 5]


@requirement("INV-MCP-007")
async def test_a_commit_under_way_is_carried_out_and_recorded_as_done(deck: Deck, era: Era) -> None:
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop)), era) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call, "commit")
            await workshop.gate.reached()
            tasks.cancel_scope.cancel()
        workshop.gate.open()
        await workshop.left.wait()
    [trace] = await root_traces(deck)
    assert trace.status is TraceStatus.SUCCESS
    assert payload_of(trace, EventType.TOOL_RESULT)["output"] == {"text": "committed"}


async def test_a_server_that_lost_a_request_serves_the_next(deck: Deck, era: Era) -> None:
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop)), era) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call, "wait")
            await workshop.entered.wait()
            tasks.cancel_scope.cancel()
        workshop.released.set()
        assert await client.answer("wait") == {"text": "waited"}


async def test_a_client_that_leaves_cancels_what_it_waited_for(deck: Deck, era: Era) -> None:
    workshop = Workshop(deck)

    async def ask(client: ToolClient) -> None:
        with pytest.raises(Exception, match="closed"):
            await client.call("wait")

    server = server_with(deck, workshop_tools(workshop))
    async with anyio.create_task_group() as tasks, connected(server, era) as client:
        tasks.start_soon(ask, client)
        await workshop.entered.wait()
    await workshop.left.wait()
    [trace] = await root_traces(deck)
    assert payload_of(trace, EventType.ERROR)["code"] == "CANCELLED"
