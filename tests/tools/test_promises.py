"""What every tool promises: no hidden effects, safe repetition, its input left alone."""

from copy import deepcopy
from functools import partial
from typing import Any

import pytest

from quarterdeck.domain.effect import Effect
from quarterdeck.errors import InvalidInput
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck
from quarterdeck.tools.registry import ToolSpec
from quarterdeck.tools.server import all_tools
from tests.requirements import requirement
from tests.support.clients import ToolClient, connected
from tests.support.records import Rows, all_rows, newest_trace

SOUND: dict[str, dict[str, Any]] = {
    "memory_store": {"key": "k", "value": {"deep": [{"list": [1, None]}]}, "namespace": "n"},
    "memory_retrieve": {"key": "plan", "namespace": None},
    "memory_search": {"query": "plan", "limit": 5},
    "memory_list": {"prefix": "p", "limit": 1},
    "memory_delete": {"key": "plan"},
    "trace_list": {"status": "success"},
    "trace_get": {"traceId": "filled in"},
    "trace_analyze": {"traceId": "filled in"},
    "mcp_list_resources": {},
}


def tools_of(deck: Deck) -> dict[str, ToolSpec]:
    specs = {spec.name: spec for spec in all_tools(deck.services, deck.server)}
    assert specs.keys() == SOUND.keys(), "each tool needs an example"
    return specs


async def filled(client: ToolClient, deck: Deck) -> dict[str, dict[str, Any]]:
    """Store something to find, and return arguments for each tool."""
    for key in ("plan", "plan b"):
        await client.answer("memory_store", key=key, value={"text": "the plan"})
    trace_id = (await newest_trace(deck)).trace_id
    examples = deepcopy(SOUND)
    examples["trace_get"]["traceId"] = examples["trace_analyze"]["traceId"] = trace_id
    return examples


def state(deck: Deck) -> Rows:
    """Return all rows but the record of calls."""
    return {name: rows for name, rows in all_rows(deck).items() if name != "traces"}


async def entries(client: ToolClient) -> list[tuple[str, str, Any]]:
    """Return the memory as its readers see it, without times."""
    rows = (await client.answer("memory_list"))["keys"]
    names = [{"key": row["key"], "namespace": row["namespace"]} for row in rows]
    found = [await client.answer("memory_retrieve", **name) for name in names]
    return [(entry["namespace"], entry["key"], entry["value"]) for entry in found]


@requirement("INV-MCP-002")
async def test_a_read_only_tool_changes_no_row_but_traces(client: ToolClient, deck: Deck) -> None:
    examples = await filled(client, deck)
    reading = [spec for spec in tools_of(deck).values() if spec.effect is Effect.READ]
    assert len(reading) == 7
    before = state(deck)
    for spec in reading:
        await client.answer(spec.name, **examples[spec.name])
        assert state(deck) == before, spec.name


@requirement("INV-MCP-002")
async def test_a_writing_tool_changes_the_memory_and_nothing_else(
    client: ToolClient, deck: Deck
) -> None:
    examples = await filled(client, deck)
    before = state(deck)
    for tool in ("memory_store", "memory_delete"):
        await client.answer(tool, **examples[tool])
    changed = {name for name, rows in state(deck).items() if rows != before[name]}
    assert "memory" in changed
    assert all(name.startswith(("memory", "sqlite_")) for name in changed)


@requirement("INV-MCP-001")
async def test_a_refused_call_names_the_field_and_changes_nothing(
    client: ToolClient, deck: Deck
) -> None:
    examples = await filled(client, deck)
    before = state(deck)
    for spec in tools_of(deck).values():
        for field in {*spec.arguments.model_fields, "surprise"}:
            wrong = examples[spec.name] | {field: 5.5}
            assert list(await client.refusal(spec.name, **wrong)) == [field]
    assert state(deck) == before


@requirement("INV-MCP-004")
async def test_repeating_an_idempotent_tool_leaves_the_same_state(
    client: ToolClient, deck: Deck
) -> None:
    examples = await filled(client, deck)
    for spec in tools_of(deck).values():
        assert spec.is_idempotent, "an example of repeating a tool that is not belongs here"
        await client.answer(spec.name, **examples[spec.name])
        once = await entries(client)
        await client.answer(spec.name, **examples[spec.name])
        assert await entries(client) == once, spec.name


@requirement("INV-MCP-005")
async def test_no_tool_changes_the_input_it_was_given(deck: Deck) -> None:
    async with connected(deck.server) as client:
        examples = await filled(client, deck)
    for spec in tools_of(deck).values():
        given = examples[spec.name]
        before = deepcopy(given)
        call = Call(surface="mcp", name=f"mcp.{spec.name}", input=given, render=spec.render)
        await deck.quarterdeck.calls.serve(call, partial(spec.function, **spec.checked(given)))
        assert given == before, spec.name


@requirement("INV-MCP-005")
async def test_a_refused_input_is_left_alone_too(deck: Deck) -> None:
    for spec in tools_of(deck).values():
        given = {"surprise": [{"a": None}], "limit": None, "key": {"x": "y"}}
        before = deepcopy(given)
        with pytest.raises(InvalidInput):
            spec.checked(given)
        assert given == before
