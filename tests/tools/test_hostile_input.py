"""Whatever a caller sends gets a clear answer, and the server lives."""

import json
from functools import partial
from typing import Any

import pytest

from quarterdeck.domain.trace import EventType
from quarterdeck.errors import InvalidInput
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck
from quarterdeck.tools.errors import error_result
from quarterdeck.tools.registry import ToolSpec
from quarterdeck.tools.server import all_tools
from tests.support.clients import ToolClient
from tests.support.records import newest_trace, payload_of, root_traces

MB = 1000 * 1000
LONE = "\ud800"


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


async def assert_alive(client: ToolClient) -> None:
    await client.answer("memory_store", key="alive", value={})
    assert (await client.answer("memory_retrieve", key="alive"))["found"]


async def test_ten_megabytes_in_any_argument_are_refused(client: ToolClient) -> None:
    huge = "x" * (10 * MB)
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("memory_store", {"key": "k", "value": {"text": huge}}, "value"),
        ("memory_store", {"key": huge, "value": {}}, "key"),
        ("memory_search", {"query": huge}, "query"),
        ("memory_list", {"cursor": huge}, "cursor"),
        ("trace_get", {"traceId": huge}, "traceId"),
    ]
    for tool, arguments, field in cases:
        assert list(await client.refusal(tool, **arguments)) == [field]
    await assert_alive(client)


async def test_names_of_ten_megabytes_are_refused_and_not_repeated(
    client: ToolClient, deck: Deck
) -> None:
    huge = "x" * (10 * MB)
    for reply in (await client.call(huge), await client.call("memory_list", **{huge: 1})):
        assert reply.error["code"] in ("NOT_FOUND", "INVALID_INPUT")
        assert len(str(reply.body)) < 2000
    assert len(await root_traces(deck)) == 2
    await assert_alive(client)


async def test_objects_nested_deeper_than_json_readers_go_are_refused(
    client: ToolClient, deck: Deck
) -> None:
    for levels in (150, 199, 250):
        problems = await client.refusal("memory_store", key="deep", value=nested(levels))
        assert problems == {"value": "is nested more than 100 levels deep"}
        trace = await newest_trace(deck)
        kept = payload_of(trace, EventType.TOOL_INVOKE)["input"]
        assert kept["preview"].startswith('{"key":"deep","value":{"in":{"in"')
        # What was recorded of it can be read by every client.
        read = await client.answer("trace_get", traceId=trace.trace_id)
        assert read["status"] == "failure"
    await assert_alive(client)


async def test_a_thousand_unknown_arguments_get_a_short_answer(client: ToolClient) -> None:
    surprises = {f"surprise{number}": number for number in range(1000)}
    error = (await client.call("memory_list", **surprises)).error
    assert error["code"] == "INVALID_INPUT"
    assert len(error["details"]["fields"]) == 20
    assert error["details"]["unlisted"] == 980
    await assert_alive(client)


async def test_huge_integers_are_refused(client: ToolClient) -> None:
    for number in (2**63, 10**100, -(10**100), 10**4000):
        assert list(await client.refusal("memory_list", limit=number)) == ["limit"]
        assert list(await client.refusal("trace_list", limit=number)) == ["limit"]
    await assert_alive(client)


async def test_huge_integers_inside_a_value_are_kept(client: ToolClient) -> None:
    value = {"n": [2**63, -(10**100), 10**4000]}
    await client.answer("memory_store", key="n", value=value)
    assert (await client.answer("memory_retrieve", key="n"))["value"] == value


async def test_a_query_made_of_syntax_is_only_text(client: ToolClient) -> None:
    await client.answer("memory_store", key="safe", value={"text": "nothing to see"})
    for query in [
        "'; DROP TABLE memory; --",
        "' OR '1'='1",
        '" OR key:* NEAR/5 "',
        "key : (a AND b) NOT c",
        "{col}: ^start*",
        "a & b | !c <-> d:*",
        "\\' \\\" \\\\ %s %(x)s :name ? $1 {} {0}",
        "%" * 500,
        "(" * 500,
        '"' * 499,
        "\t\n\r\x0b\x1f\x7f",
        "\N{ROCKET}" * 500,
        "ﷺ" * 500,
        "\u0301" * 500,
    ]:
        assert (await client.answer("memory_search", query=query))["count"] == 0
        assert (await client.answer("memory_list", prefix=query[:200]))["total"] == 0
        assert (await client.answer("memory_delete", key=query))["deleted"] is False
    assert (await client.answer("memory_list"))["total"] == 1


HALVES: list[tuple[str, dict[str, Any]]] = [
    ("memory_store", {"key": LONE, "value": {}}),
    ("memory_store", {"key": "k", "value": {"a": [f"x{LONE}"]}}),
    ("memory_store", {"key": "k", "value": {LONE: 1}}),
    ("memory_store", {"key": "k", "value": {}, "namespace": LONE}),
    ("memory_search", {"query": LONE}),
    ("memory_list", {"prefix": LONE}),
    ("memory_list", {"cursor": LONE}),
    ("memory_list", {LONE: 1}),
    ("trace_get", {"traceId": LONE}),
    ("trace_list", {"status": LONE}),
]


async def test_half_a_character_is_refused_wherever_it_stands(deck: Deck) -> None:
    """Not through a client, which could not send it; a lenient parser of JSON lets it in."""
    specs = {spec.name: spec for spec in all_tools(deck.services, deck.server)}
    for tool, arguments in HALVES:
        call = Call(surface="mcp", name=f"mcp.{tool}{LONE}", input=arguments, actor=LONE)
        call.request_id = call.traceparent = LONE
        with pytest.raises(InvalidInput) as refused:
            await deck.quarterdeck.calls.serve(call, partial(run, specs[tool], arguments))
        trace = await newest_trace(deck)
        assert trace.trace_id == call.call_id
        assert (trace.actor, trace.workflow_id) == ("?", f"mcp.{tool}?")
        reply = error_result(refused.value, deck.quarterdeck.redactor)
        assert json.dumps(reply.structured_content, ensure_ascii=False).encode()


async def run(spec: ToolSpec, arguments: dict[str, Any]) -> object:
    return await spec.function(**spec.checked(arguments))


async def test_numbers_that_json_cannot_say_are_refused(deck: Deck) -> None:
    memory = deck.quarterdeck.memory
    for number in (float("nan"), float("inf"), float("-inf")):
        call = Call(surface="mcp", name="mcp.memory_store", input={"n": number})
        with pytest.raises(InvalidInput):
            await deck.quarterdeck.calls.serve(call, partial(memory.store, "k", {"n": [number]}))
        assert payload_of(await newest_trace(deck), EventType.TOOL_INVOKE)["input"] == {"n": None}
