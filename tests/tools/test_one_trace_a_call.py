"""Exactly one root trace a call, whatever the call was and however it ended."""

from collections import Counter
from typing import Any

import anyio
import pytest
from fastmcp import FastMCP
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.errors import Conflict
from quarterdeck.testing import Deck
from tests.requirements import requirement
from tests.support.clients import Era, ToolClient, connected
from tests.support.records import children_of, newest_trace, payload_of, root_traces
from tests.support.workshop import Workshop, server_with, workshop_tools

MALFORMED: list[tuple[str, dict[str, Any] | None]] = [
    ("tools/call", {"name": "memory_list", "arguments": ["a list"]}),
    ("tools/call", {"name": "memory_list", "arguments": "text"}),
    ("tools/call", {"arguments": {}}),
    ("tools/call", {"name": 5}),
    ("tools/call", None),
    ("resources/read", {"uri": 5}),
    ("resources/read", None),
    ("prompts/get", {"name": "nowhere", "arguments": {"a": 5}}),
    ("prompts/get", {}),
]


async def ends(deck: Deck) -> Counter[str]:
    """Count the root traces by how they ended: with success or with which code."""
    found: Counter[str] = Counter()
    for trace in await root_traces(deck):
        failed = trace.status is TraceStatus.FAILURE
        found[payload_of(trace, EventType.ERROR)["code"] if failed else trace.status] += 1
    return found


@requirement("INV-MCP-007")
async def test_a_mix_of_calls_leaves_one_root_trace_each(
    client: ToolClient, deck: Deck, era: Era
) -> None:
    await client.answer("memory_store", key="k", value={})
    await client.answer("mcp_list_resources")
    await client.call("trace_get", traceId="nowhere")
    await client.refusal("memory_store", key="")
    await client.refusal("memory_list", cursor="bad")
    await client.call("no_such_tool", a=1)
    for unknown in (client.mcp.read_resource("test://nowhere"), client.mcp.get_prompt("nowhere")):
        with pytest.raises(MCPError):
            await unknown
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop)), era) as worker:
        await worker.answer("nest", key="k")
        workshop.failure = Conflict("The workshop is busy")
        await worker.call("fail")
        await worker.call("raise_outside")
        workshop.failure = RuntimeError("a bug")
        await worker.call("fail")
        await worker.call("raise_outside")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.call, "wait")
            await workshop.entered.wait()
            tasks.cancel_scope.cancel()
        await workshop.left.wait()
    assert await ends(deck) == {
        "success": 3,
        "TRACE_NOT_FOUND": 1,
        "INVALID_INPUT": 2,
        "NOT_FOUND": 3,
        "CONFLICT": 2,
        "INTERNAL_ERROR": 2,
        "CANCELLED": 1,
    }


@requirement("INV-MCP-007")
async def test_concurrent_calls_leave_one_root_trace_each(client: ToolClient, deck: Deck) -> None:
    async def call(number: int) -> None:
        match number % 4:
            case 0:
                await client.call("no_such_tool")
            case 1:
                await client.refusal("memory_list", cursor="bad")
            case _:
                await client.answer("memory_store", key=f"k{number}", value={"n": number})

    async with anyio.create_task_group() as tasks:
        for number in range(32):
            tasks.start_soon(call, number)
    traces = await root_traces(deck)
    assert len({trace.trace_id for trace in traces}) == 32
    assert Counter(trace.workflow_id for trace in traces) == {
        "mcp.memory_store": 16,
        "mcp.memory_list": 8,
        "mcp.no_such_tool": 8,
    }
    assert (await client.answer("memory_list"))["total"] == 16


@requirement("INV-MCP-007")
async def test_a_malformed_request_is_a_protocol_error_and_leaves_one_trace(
    client: ToolClient, deck: Deck
) -> None:
    for count, (method, params) in enumerate(MALFORMED, start=1):
        with pytest.raises(MCPError) as caught:
            await client.request(method, params)
        assert caught.value.code == INVALID_PARAMS
        assert "object has no attribute" not in str(caught.value)
        traces = await root_traces(deck)
        assert len(traces) == count
        assert traces[0].workflow_id == f"mcp.{method}"
        assert payload_of(traces[0], EventType.TOOL_INVOKE)["input"] == (params or {})
    assert await ends(deck) == {"INVALID_INPUT": len(MALFORMED)}


async def test_an_unknown_resource_or_prompt_is_not_found_in_the_trace_and_on_the_wire(
    client: ToolClient, deck: Deck
) -> None:
    with pytest.raises(MCPError) as caught:
        await client.mcp.read_resource("test://nowhere")
    assert (caught.value.code, caught.value.data) == (INVALID_PARAMS, {"uri": "test://nowhere"})
    trace = await newest_trace(deck)
    assert trace.workflow_id == "mcp.resources/read"
    assert payload_of(trace, EventType.TOOL_INVOKE)["input"] == {"uri": "test://nowhere"}
    assert payload_of(trace, EventType.ERROR)["code"] == "NOT_FOUND"
    with pytest.raises(MCPError):
        await client.mcp.get_prompt("nowhere", {"a": "b"})
    trace = await newest_trace(deck)
    assert trace.workflow_id == "mcp.prompts/get"
    sent = payload_of(trace, EventType.TOOL_INVOKE)["input"]
    assert sent == {"name": "nowhere", "arguments": {"a": "b"}}


async def test_a_resource_and_a_prompt_that_are_there_leave_one_trace_each(
    client: ToolClient, deck: Deck
) -> None:
    @deck.server.resource("test://there")
    def _there() -> str:
        return "content"

    @deck.server.prompt("greet")
    def _greet(name: str) -> str:
        return f"Greet {name}"

    await client.mcp.read_resource("test://there")
    await client.mcp.get_prompt("greet", {"name": "Ada"})
    assert await ends(deck) == {"success": 2}
    assert "Greet Ada" in (await newest_trace(deck)).events[2].payload


async def test_a_mounted_tool_leaves_one_trace(client: ToolClient, deck: Deck) -> None:
    other: FastMCP[Any] = FastMCP("other")

    @other.tool
    def add(a: int, b: int) -> int:
        return a + b

    deck.server.mount(other, namespace="other")
    result = await client.mcp.call_tool_mcp("other_add", {"a": 1, "b": 2})
    assert result.structured_content == {"result": 3}
    [trace] = await root_traces(deck)
    assert (trace.workflow_id, trace.operation) == ("mcp.other_add", None)
    assert payload_of(trace, EventType.TOOL_INVOKE)["input"] == {"a": 1, "b": 2}
    assert payload_of(trace, EventType.TOOL_RESULT)["output"] == {"result": 3}


async def test_a_call_without_a_client_leaves_one_trace(deck: Deck) -> None:
    await deck.server.call_tool("memory_list", {})
    [trace] = await root_traces(deck)
    assert (trace.workflow_id, trace.actor) == ("mcp.memory_list", "local")


async def test_lists_pings_and_notifications_are_no_calls(client: ToolClient, deck: Deck) -> None:
    await client.mcp.list_tools()
    await client.mcp.list_resources()
    await client.mcp.list_resource_templates()
    await client.mcp.list_prompts()
    await client.mcp.cancel("no such request")
    await client.notify("tools/call", {"name": "memory_list", "arguments": {}})
    # A call over the same connection is answered after those have been read.
    await client.answer("memory_list")
    assert await ends(deck) == {"success": 1}


async def test_work_inside_a_call_is_a_child_of_its_root(client: ToolClient, deck: Deck) -> None:
    async with connected(server_with(deck, workshop_tools(Workshop(deck)))) as nester:
        await nester.answer("nest", key="k")
    [root] = await root_traces(deck)
    [child] = await children_of(deck, root)
    assert (root.workflow_id, root.operation, root.parent_id) == ("mcp.nest", "workshop.nest", None)
    assert (child.workflow_id, child.operation) == ("memory.store", "memory.store")
    assert (child.parent_id, child.actor) == (root.trace_id, root.actor)
    assert root.started_at < child.started_at
    assert await children_of(deck, child) == []
