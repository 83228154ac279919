"""What every tool promises: no hidden effects, safe repetition, its input left alone."""

from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any

import pytest

from quarterdeck.domain.effect import Effect
from quarterdeck.errors import InvalidInput, QuestionNotFound
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck
from quarterdeck.tools.registry import ToolSpec
from quarterdeck.tools.server import all_tools
from tests.requirements import requirement
from tests.support.clients import ToolClient, connected
from tests.support.records import Rows, all_rows, newest_trace

# "sony" is idle when these are called, one after the other, and nobody has asked anything.
SOUND: dict[str, dict[str, Any]] = {
    "list_agent_projects": {},
    "list_agent_roles": {"project": "demo"},
    "list_agents": {"status_filter": "idle", "project_filter": None, "include_metadata": False},
    "show_agent": {"agent_name": "sony"},
    "create_agent": {"name": "papi", "project": "Demo", "task": "/say ahoy", "role": "coder"},
    "delete_agent": {"agent_name": "papi"},
    "restart_agent": {"agent_name": "sony"},
    "wait_for_agent": {"agent_names": ["sony"], "until": "idle"},
    "show_agent_diff": {"agent_name": "sony"},
    "start_agent_task": {"agent_name": "sony", "task_description": "/hang", "queue": False},
    "cancel_agent_task": {"agent_name": "sony"},
    "show_agent_task_history": {"agent_name": "sony", "page": 1, "page_size": 5},
    "show_agent_log": {"agent_name": "sony", "page_size": 5},
    "question_list": {"agent_name": None},
    "question_answer": {"question_id": "nobody asked", "kind": "reject_once"},
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
    await client.answer("create_agent", name="sony", project="Demo", task="/say ahoy")
    await client.answer("wait_for_agent", agent_names=["sony"])
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
    assert len(reading) == 16
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


@requirement("INV-MCP-002")
async def test_a_tool_of_the_fleet_changes_the_fleet_and_nothing_else(
    client: ToolClient, deck: Deck
) -> None:
    examples = await filled(client, deck)
    before = state(deck)
    for spec in tools_of(deck).values():
        if spec.toolset == "fleet" and spec.effect is not Effect.READ:
            await client.call(spec.name, **examples[spec.name])
            if spec.name != "start_agent_task":  # its task ends when it is canceled
                await client.answer("wait_for_agent", agent_names=["sony"])
    changed = {name for name, rows in state(deck).items() if rows != before[name]}
    assert {"agents", "tasks", "agent_log"} <= changed
    assert changed <= {"agents", "tasks", "agent_log", "questions", "sqlite_sequence"}


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
        # What it was repeated for may be gone by then, which is a refusal and changes nothing.
        await client.call(spec.name, **examples[spec.name])
        if spec.is_idempotent:
            once = await entries(client), await fleet(client)
            await client.call(spec.name, **examples[spec.name])
            assert (await entries(client), await fleet(client)) == once, spec.name


async def fleet(client: ToolClient) -> list[tuple[str, str, str]]:
    """Return the agents as their readers see them, those at work once they are at rest."""
    await client.answer("wait_for_agent", agent_names=["sony"])
    living = await client.answer("list_agents", include_metadata=False)
    gone = await client.answer("list_agents", include_metadata=False, status_filter="deleted")
    rows = [*living["agents"], *gone["agents"]]
    return [(row["name"], row["status"], row["last_task"]) for row in rows]


@requirement("INV-MCP-005")
async def test_no_tool_changes_the_input_it_was_given(deck: Deck) -> None:
    async with connected(deck.server) as client:
        examples = await filled(client, deck)
    for spec in tools_of(deck).values():
        given = examples[spec.name]
        before = deepcopy(given)
        call = Call(surface="mcp", name=f"mcp.{spec.name}", input=given, render=spec.render)
        with suppress(QuestionNotFound):
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
