"""The tools as clients see them: every one has texts, limits, hints and a snapshot."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp.types as mt
import pytest
import yaml
from fastmcp import Client
from jsonschema import Draft202012Validator

from quarterdeck.domain.answer import Answer
from quarterdeck.domain.effect import Effect
from quarterdeck.testing import Deck
from quarterdeck.tools import texts
from quarterdeck.tools.registry import ToolSpec
from quarterdeck.tools.server import all_tools
from quarterdeck.toolsets import TOOLSETS
from tests.requirements import requirement

SNAPSHOTS = Path(__file__).parent / "toolsnaps"
TEXTS = Path(texts.__file__).parent / "texts"
TOOLS = {
    "list_agent_projects": "fleet",
    "list_agent_roles": "fleet",
    "list_agents": "fleet",
    "show_agent": "fleet",
    "create_agent": "fleet",
    "delete_agent": "fleet",
    "restart_agent": "fleet",
    "wait_for_agent": "fleet",
    "show_agent_diff": "fleet",
    "start_agent_task": "fleet",
    "cancel_agent_task": "fleet",
    "show_agent_task_history": "fleet",
    "show_agent_log": "fleet",
    "question_list": "fleet",
    "question_answer": "fleet",
    "memory_store": "memory",
    "memory_retrieve": "memory",
    "memory_search": "memory",
    "memory_list": "memory",
    "memory_delete": "memory",
    "trace_list": "trace",
    "trace_get": "trace",
    "trace_analyze": "trace",
    "mcp_list_resources": "meta",
}
WRITING = {
    "create_agent": "Changes the fleet",
    "delete_agent": "cannot be undone",
    "restart_agent": "Changes the agent's process",
    "start_agent_task": "Changes the agent to busy",
    "cancel_agent_task": "Changes the task to canceled",
    "question_answer": "Changes the question to answered",
    "memory_store": "Changes the shared memory",
    "memory_delete": "cannot be undone",
}
# Lookups take any agent's name, also of those that are not in the fleet and may be longer.
AGENT = {
    "type": "string",
    "minLength": 1,
    "maxLength": 50,
    "pattern": "^[a-zA-Z0-9][a-zA-Z0-9_-]*$",
}
NAMED = {"type": "string", "minLength": 1, "maxLength": 100}
TASK = {"type": "string", "minLength": 1, "maxLength": 100_000}
ID = {"type": "string", "minLength": 1, "maxLength": 200}
PAGE = {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1}
PAGE_SIZE = {"type": "integer", "minimum": 1, "maximum": 100}
STATUSES = [
    "pending",
    "starting",
    "idle",
    "busy",
    "stopping",
    "stopped",
    "failed",
    "canceling",
    "canceled",
    "deleting",
    "deleted",
]
FLEET_LIMITS: dict[str, dict[str, Any]] = {
    "list_agent_projects": {},
    "list_agent_roles": {"project": NAMED},
    "list_agents": {
        "status_filter": {"type": "string", "enum": STATUSES},
        "project_filter": NAMED,
        "include_metadata": {"type": "boolean", "default": True},
    },
    "show_agent": {
        "agent_name": AGENT,
        "include_metadata": {"type": "boolean", "default": True},
    },
    "create_agent": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 32,
            "pattern": "^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$",
        },
        "project": NAMED,
        "task": TASK,
        "role": NAMED | {"default": "coder"},
    },
    "delete_agent": {"agent_name": AGENT},
    "restart_agent": {"agent_name": AGENT},
    "wait_for_agent": {
        "agent_names": {"type": "array", "items": AGENT, "minItems": 1, "maxItems": 50},
        "until": {"type": "string", "enum": ["idle", "changed", "question"], "default": "idle"},
        "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 50, "default": 45},
    },
    "show_agent_diff": {"agent_name": AGENT, "page": PAGE},
    "start_agent_task": {
        "agent_name": AGENT,
        "task_description": TASK,
        "queue": {"type": "boolean", "default": False},
    },
    "cancel_agent_task": {"agent_name": AGENT},
    "show_agent_task_history": {
        "agent_name": AGENT,
        "page": PAGE,
        "page_size": PAGE_SIZE | {"default": 20},
    },
    "show_agent_log": {
        "agent_name": AGENT,
        "page": PAGE,
        "page_size": PAGE_SIZE | {"default": 1},
    },
    "question_list": {"agent_name": AGENT},
    "question_answer": {
        "question_id": ID,
        "option_id": ID,
        "kind": {
            "type": "string",
            "enum": ["allow_once", "allow_always", "reject_once", "reject_always"],
        },
    },
}


@pytest.fixture
async def listed(deck: Deck) -> list[mt.Tool]:
    async with Client(deck.server) as client:
        return await client.list_tools()


@pytest.fixture
def specs(deck: Deck) -> list[ToolSpec]:
    return all_tools(deck.services, deck.server)


def limited(schema: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """Yield every part of a schema that describes a value of this type."""
    if schema.get("type") == kind:
        yield schema
    for below in schema.get("properties", {}).values():
        yield from limited(below, kind)
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for below in schema.get(keyword, []):
            yield from limited(below, kind)
    if isinstance(items := schema.get("items"), dict):
        yield from limited(items, kind)  # pyright: ignore[reportUnknownArgumentType] - part of a schema


def yaml_texts() -> dict[str, dict[str, Any]]:
    """Return the texts as written, each tool once."""
    found: list[tuple[str, dict[str, Any]]] = []
    for file in sorted(TEXTS.glob("*.yaml")):
        found += yaml.safe_load(file.read_text(encoding="utf-8"))["tools"].items()
    assert len(dict(found)) == len(found), "a tool's texts are in one place"
    return dict(found)


async def test_exactly_these_tools_are_offered_in_this_order(
    listed: list[mt.Tool], specs: list[ToolSpec]
) -> None:
    assert [tool.name for tool in listed] == list(TOOLS)
    assert {spec.name: spec.toolset for spec in specs} == TOOLS
    assert set(TOOLS.values()) <= set(TOOLSETS)


async def test_every_text_belongs_to_a_tool_and_every_tool_has_its_texts(
    listed: list[mt.Tool],
) -> None:
    assert yaml_texts().keys() == TOOLS.keys()
    for tool in listed:
        text = yaml_texts()[tool.name]
        assert (tool.title, tool.description) == (text["title"], text["description"])
        assert len(text["description"]) > 60
        assert len(text["description"]) <= 1024


async def test_every_argument_has_a_text_and_every_text_an_argument(listed: list[mt.Tool]) -> None:
    for tool in listed:
        described = {
            name: {"description": part["description"]}
            for name, part in tool.input_schema["properties"].items()
        }
        assert described == yaml_texts()[tool.name].get("arguments", {})
        assert all(len(text["description"]) > 10 for text in described.values())


@requirement("INV-MCP-002", "INV-MCP-004")
async def test_all_four_hints_follow_from_the_declared_effect(
    listed: list[mt.Tool], specs: list[ToolSpec]
) -> None:
    for tool, spec in zip(listed, specs, strict=True):
        hints = tool.annotations
        assert hints is not None
        assert hints.title == tool.title
        assert hints.read_only_hint is (spec.effect is Effect.READ)
        assert hints.destructive_hint is (spec.effect is Effect.DESTROY)
        assert hints.idempotent_hint is spec.is_idempotent
        assert hints.open_world_hint is False


@requirement("INV-MCP-002")
async def test_a_description_says_what_the_tool_changes(listed: list[mt.Tool]) -> None:
    for tool in listed:
        promise = WRITING.get(tool.name, "Changes nothing.")
        assert promise in (tool.description or "")


async def test_both_schemas_are_valid_and_closed(listed: list[mt.Tool]) -> None:
    for tool in listed:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema or {})
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False


async def test_every_limit_of_an_argument_is_in_its_schema(listed: list[mt.Tool]) -> None:
    for tool in listed:
        for text in limited(tool.input_schema, "string"):
            assert "maxLength" in text or "enum" in text, (tool.name, text)
        for kind in ("integer", "number"):
            for number in limited(tool.input_schema, kind):
                assert {"minimum", "maximum"} <= number.keys(), (tool.name, number)
        for array in limited(tool.input_schema, "array"):
            assert "maxItems" in array, (tool.name, array)


async def test_the_limits_are_those_of_the_contract(listed: list[mt.Tool]) -> None:
    key = {"type": "string", "minLength": 1, "maxLength": 500}
    namespace = {"type": "string", "minLength": 1, "maxLength": 100}
    own = {"default": "default"}
    trace_id = {"type": "string", "minLength": 1, "maxLength": 100}
    few = {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}
    many = {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    statuses = {"type": "string", "enum": ["success", "failure", "running"]}
    expected = FLEET_LIMITS | {
        "memory_store": {
            "key": key,
            "value": {"type": "object", "additionalProperties": True},
            "namespace": namespace | own,
        },
        "memory_retrieve": {"key": key, "namespace": namespace | own},
        "memory_search": {"query": key, "namespace": namespace, "limit": few},
        "memory_list": {
            "namespace": namespace,
            "limit": many,
            "prefix": {"type": "string", "maxLength": 200, "default": ""},
            "cursor": {"type": "string", "minLength": 1, "maxLength": 100},
        },
        "memory_delete": {"key": key, "namespace": namespace | own},
        "trace_list": {"limit": few, "status": statuses},
        "trace_get": {"traceId": trace_id},
        "trace_analyze": {"traceId": trace_id},
        "mcp_list_resources": {},
    }
    for tool in listed:
        shown = {
            name: {key: value for key, value in part.items() if key != "description"}
            for name, part in tool.input_schema["properties"].items()
        }
        assert shown == expected[tool.name]


async def test_only_what_has_no_default_is_required(listed: list[mt.Tool]) -> None:
    required = {tool.name: tool.input_schema.get("required", []) for tool in listed}
    assert required == {
        "list_agent_projects": [],
        "list_agent_roles": ["project"],
        "list_agents": [],
        "show_agent": ["agent_name"],
        "create_agent": ["name", "project", "task"],
        "delete_agent": ["agent_name"],
        "restart_agent": ["agent_name"],
        "wait_for_agent": ["agent_names"],
        "show_agent_diff": ["agent_name"],
        "start_agent_task": ["agent_name", "task_description"],
        "cancel_agent_task": ["agent_name"],
        "show_agent_task_history": ["agent_name"],
        "show_agent_log": ["agent_name"],
        "question_list": [],
        "question_answer": ["question_id"],
        "memory_store": ["key", "value"],
        "memory_retrieve": ["key"],
        "memory_search": ["query"],
        "memory_list": [],
        "memory_delete": ["key"],
        "trace_list": [],
        "trace_get": ["traceId"],
        "trace_analyze": ["traceId"],
        "mcp_list_resources": [],
    }


@requirement("INV-MCP-VAL-002")
async def test_every_output_schema_comes_from_a_response_model(
    listed: list[mt.Tool], specs: list[ToolSpec]
) -> None:
    for tool, spec in zip(listed, specs, strict=True):
        assert issubclass(spec.answer, Answer)
        assert spec.answer.__name__.endswith("Response")
        assert spec.answer.__module__.startswith("quarterdeck.")
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.output_schema["properties"].keys() == {
            field.alias or name for name, field in spec.answer.model_fields.items()
        }


async def test_each_tool_is_as_its_snapshot_says(listed: list[mt.Tool]) -> None:
    """`make snap` accepts the tools as they are now; the difference is for the reviewer."""
    for tool in listed:
        file = SNAPSHOTS / f"{tool.name}.json"
        definition = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        if os.environ.get("QUARTERDECK_UPDATE_SNAPS") == "1":
            text = json.dumps(definition, indent=2, sort_keys=True, ensure_ascii=False)
            file.write_text(text + "\n", encoding="utf-8")
        assert file.exists(), f"{file.name} is missing; run 'make snap'"
        assert json.loads(file.read_text(encoding="utf-8")) == definition


def test_every_snapshot_belongs_to_a_tool() -> None:
    assert {file.stem for file in SNAPSHOTS.iterdir()} == TOOLS.keys()
