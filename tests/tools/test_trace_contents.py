"""What a call leaves in its trace: everything that happened, and no credential."""

import json
from datetime import timedelta
from typing import Any

import pytest
from fastmcp import Client
from mcp.types import Implementation

from quarterdeck.cli.logs import RedactingFormatter
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.redaction import Redactor
from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.errors import Conflict
from quarterdeck.testing import Deck, FixedClock
from quarterdeck.tools.registry import Toolset
from tests.requirements import requirement
from tests.support.clients import Era, ToolClient, connected
from tests.support.records import all_rows, newest_trace, payload_of, root_traces
from tests.support.workshop import Made, Workshop, server_with, workshop_tools

# Put together here, so that nobody takes them for real ones.
TOKEN = "ghp_" + "a1B2" * 9
PASSWORD = "correct-horse-" + "battery"
KIB = 1024


@requirement("INV-MCP-008")
async def test_a_trace_has_input_output_duration_and_success(
    client: ToolClient, deck: Deck
) -> None:
    arguments = {"key": "k", "value": {"text": "é \u2028 \x00", "none": None}}
    good = await client.call("memory_store", **arguments)
    bad = await client.call("memory_store", key="", surprise=[1])
    sent = [arguments, {"key": "", "surprise": [1]}]
    for trace, reply, given in zip(
        reversed(await root_traces(deck)), (good, bad), sent, strict=True
    ):
        result = payload_of(trace, EventType.TOOL_RESULT)
        assert payload_of(trace, EventType.TOOL_INVOKE)["input"] == given
        assert result["output"] == reply.body
        assert result["success"] is (trace.status is TraceStatus.SUCCESS) is (not reply.is_error)
        assert result["durationMs"] == trace.duration_us / 1000
        assert trace.ended_at == trace.started_at + timedelta(microseconds=trace.duration_us)


async def test_events_are_in_order_with_a_strictly_increasing_sequence(
    client: ToolClient, deck: Deck
) -> None:
    await client.answer("memory_list")
    await client.refusal("memory_list", limit=0)
    failed, good = await root_traces(deck)
    kinds = [EventType.RUN_START, EventType.TOOL_INVOKE, EventType.TOOL_RESULT, EventType.RUN_END]
    assert [(event.sequence, event.type) for event in good.events] == list(enumerate(kinds, 1))
    kinds.insert(3, EventType.ERROR)
    assert [(event.sequence, event.type) for event in failed.events] == list(enumerate(kinds, 1))
    assert failed.event_count == 5


async def test_durations_are_those_of_the_clock(deck: Deck, clock: FixedClock) -> None:
    tools = Toolset("slow")

    @tools.tool(Effect.READ)
    async def slow() -> Made:
        clock.advance(timedelta(milliseconds=1234.5))
        return Made(text="at last")

    async with connected(server_with(deck, tools)) as client:
        await client.answer("slow")
    trace = await newest_trace(deck)
    assert trace.duration_us == 1_234_500
    assert payload_of(trace, EventType.RUN_END) == {"success": True, "totalDurationMs": 1234.5}


async def test_who_called_and_how_is_recorded(deck: Deck, era: Era) -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    about = Implementation(name="some-editor", version="4.2")
    async with Client(deck.server, mode=era, client_info=about) as mcp:
        await mcp.call_tool_mcp("memory_list", {}, meta={"traceparent": parent})
        await mcp.call_tool_mcp("memory_list", {})
    second, first = await root_traces(deck)
    assert (first.surface, first.actor) == ("mcp", "some-editor/4.2")
    start = payload_of(first, EventType.RUN_START)
    request_id = start.pop("requestId")
    assert start == {"surface": "mcp", "actor": "some-editor/4.2", "traceparent": parent}
    start = payload_of(second, EventType.RUN_START)
    assert start.pop("requestId") != request_id
    assert start == {"surface": "mcp", "actor": "some-editor/4.2"}


async def test_what_a_client_calls_itself_cannot_break_a_trace(deck: Deck, era: Era) -> None:
    about = Implementation(name="a\x00b" + "c" * 10_000, version="1")
    async with Client(deck.server, mode=era, client_info=about) as mcp:
        for traceparent in (5, {"a": 1}, None, "\x00", "x" * 10_000):
            meta: dict[str, Any] = {"traceparent": traceparent}
            await ToolClient(mcp).request("tools/call", {"name": "memory_list", "_meta": meta})
        await mcp.call_tool_mcp("no\x00tool", {})
        await mcp.call_tool_mcp("n" * 10_000, {})
    traces = await root_traces(deck)
    assert len(traces) == 7
    for trace in traces:
        assert trace.actor.startswith("a\N{REPLACEMENT CHARACTER}bccc")
        assert max(len(trace.actor), len(trace.workflow_id)) <= 200


@requirement("INV-MCP-008")
async def test_a_payload_over_64_kib_is_cut_and_keeps_its_true_size(
    client: ToolClient, deck: Deck
) -> None:
    value = {"text": "é" * (40 * KIB)}
    await client.answer("memory_store", key="large", value=value)
    size = len(
        json.dumps(
            {"key": "large", "value": value}, ensure_ascii=False, separators=(",", ":")
        ).encode()
    )
    kept = payload_of(await newest_trace(deck), EventType.TOOL_INVOKE)["input"]
    assert (kept["truncated"], kept["size"]) == (True, size)
    assert 64 * KIB - 4 <= len(kept["preview"].encode()) <= 64 * KIB
    assert kept["preview"].startswith('{"key":"large","value":{"text":"éé')
    await client.answer("memory_retrieve", key="large")
    output = payload_of(await newest_trace(deck), EventType.TOOL_RESULT)["output"]
    assert output["truncated"]
    assert output["size"] > 80 * KIB


async def test_a_payload_of_exactly_64_kib_is_kept_whole(client: ToolClient, deck: Deck) -> None:
    frame = len('{"key":"k","value":{"text":""}}')
    text = "x" * (64 * KIB - frame)
    await client.answer("memory_store", key="k", value={"text": text})
    kept = payload_of(await newest_trace(deck), EventType.TOOL_INVOKE)["input"]
    assert kept == {"key": "k", "value": {"text": text}}
    await client.answer("memory_store", key="k", value={"text": text + "x"})
    kept = payload_of(await newest_trace(deck), EventType.TOOL_INVOKE)["input"]
    assert (kept["truncated"], kept["size"]) == (True, 64 * KIB + 1)


async def test_a_huge_payload_is_only_measured(client: ToolClient, deck: Deck) -> None:
    await client.refusal("memory_store", key="k", value={"text": "x" * (3 * KIB * KIB)})
    kept = payload_of(await newest_trace(deck), EventType.TOOL_INVOKE)["input"]
    assert kept.keys() == {"truncated", "size"}


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Everything that is logged, as the product writes it to its log."""
    caplog.set_level("DEBUG")
    caplog.handler.setFormatter(RedactingFormatter(Redactor()))
    return caplog


@requirement("INV-MCP-008")
async def test_a_credential_in_any_argument_or_result_reaches_no_trace_and_no_log(
    client: ToolClient, deck: Deck, log: pytest.LogCaptureFixture
) -> None:
    large = {"pad": "x" * 70 * KIB, "token": TOKEN, "end": f"use {TOKEN} here"}
    note = {"deep": [{"note": f"use {TOKEN}"}]}
    await client.answer("memory_store", key=f"key {TOKEN}", value={"password": PASSWORD})
    await client.answer("memory_store", key="k", value=note, namespace=TOKEN)
    await client.answer("memory_store", key="large", value=large)
    for key in ("k", "large", f"key {TOKEN}"):
        await client.answer("memory_retrieve", key=key)
    found = await client.answer("memory_retrieve", key="k", namespace=TOKEN)
    assert found["value"] == note, "the caller gets its own data back unchanged"
    await client.answer("memory_search", query=TOKEN)
    await client.answer("memory_list", prefix=TOKEN, namespace=TOKEN)
    await client.answer("memory_delete", key=TOKEN)
    seen = json.dumps(all_rows(deck)["traces"]) + log.text
    assert "[redacted]" in seen
    assert TOKEN not in seen
    assert PASSWORD not in seen


@requirement("INV-MCP-008")
async def test_a_credential_in_a_refused_call_reaches_no_trace_no_log_and_no_reply(
    client: ToolClient, deck: Deck, log: pytest.LogCaptureFixture
) -> None:
    replies = [
        await client.call("memory_store", key="", value=TOKEN, password=PASSWORD),
        await client.call("memory_store", **{TOKEN: 1}),
        await client.call(TOKEN, key=TOKEN),
        await client.call(f"call_{TOKEN}"),
        await client.call("trace_get", traceId=TOKEN),
        await client.call("trace_list", status=TOKEN),
        await client.call("memory_list", cursor=TOKEN),
    ]
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop))) as worker:
        details = {"token": PASSWORD, "at": f"near {TOKEN}"}
        workshop.failure = Conflict(f"Bad {TOKEN}", details=details, hint=f"not {TOKEN}")
        replies.append(await worker.call("fail", secret=PASSWORD))
        workshop.failure = RuntimeError(f"Bad {TOKEN}")
        replies.append(await worker.call("fail", secret=PASSWORD))
    assert all(reply.is_error for reply in replies)
    seen = json.dumps([reply.body for reply in replies]) + json.dumps(all_rows(deck)["traces"])
    assert "RuntimeError: Bad [redacted]" in log.text
    assert TOKEN not in seen + log.text
    assert PASSWORD not in seen + log.text
