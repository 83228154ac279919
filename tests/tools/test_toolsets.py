"""Only what is offered is listed, and only that can be called."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.domain.trace import EventType
from quarterdeck.testing import Deck, quarterdeck_for_tests
from quarterdeck.tools.server import Offer, build_server
from tests.support.clients import Era, ToolClient, connected
from tests.support.records import newest_trace, payload_of, root_traces

FLEET = [
    "list_agent_projects",
    "list_agent_roles",
    "list_agents",
    "show_agent",
    "create_agent",
    "delete_agent",
    "restart_agent",
    "wait_for_agent",
    "show_agent_diff",
    "start_agent_task",
    "cancel_agent_task",
    "show_agent_task_history",
    "show_agent_log",
    "question_list",
    "question_answer",
]
MEMORY = ["memory_store", "memory_retrieve", "memory_search", "memory_list", "memory_delete"]
TRACE = ["trace_list", "trace_get", "trace_analyze"]
META = ["mcp_list_resources"]
ALL = FLEET + MEMORY + TRACE + META
WRITING = {"memory_store", "memory_delete"}
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("memory_store", "memory.store", {"key": "k", "value": {}}),
    ("memory_delete", "memory.delete", {"key": "k"}),
]


async def names(client: ToolClient) -> list[str]:
    return [tool.name for tool in await client.mcp.list_tools()]


@pytest.mark.parametrize(
    ("toolsets", "offered"),
    [
        (("all",), ALL),
        (("memory",), MEMORY),
        (("trace", "meta"), TRACE + META),
        (("trace", "all"), ALL),
        (("fleet",), FLEET),
        (("guard",), []),
    ],
    ids=["all", "one", "two", "all wins", "many", "none of it yet"],
)
async def test_only_the_named_toolsets_are_listed_and_can_be_called(
    deck: Deck, era: Era, toolsets: Sequence[str], offered: list[str]
) -> None:
    server = build_server(deck.services, Offer(toolsets))
    async with connected(server, era) as client:
        assert await names(client) == offered
        for tool in [tool for tool in ALL if tool not in offered]:
            assert (await client.call(tool)).error["code"] == "NOT_FOUND"
        for tool in offered:
            reply = await client.call(tool, surprise=1)
            assert reply.error["code"] == "INVALID_INPUT"
    assert len(await root_traces(deck)) == len(ALL)


async def test_read_only_hides_and_refuses_everything_that_writes(deck: Deck, era: Era) -> None:
    for toolsets in (("all",), ("memory",)):
        server = build_server(deck.services, Offer(toolsets, read_only=True))
        async with connected(server, era) as client:
            assert not WRITING & set(await names(client))
            for tool in WRITING:
                reply = await client.call(tool, key="k", value={})
                assert reply.error["code"] == "NOT_FOUND"
            assert (await client.answer("memory_list"))["total"] == 0


async def test_a_suggestion_names_only_what_is_offered(deck: Deck) -> None:
    server = build_server(deck.services, Offer(("memory",), read_only=True))
    async with connected(server) as client:
        details = (await client.call("memory_stor")).error["details"]
        assert details.get("closest") not in WRITING


async def test_the_read_only_setting_refuses_on_every_surface_and_is_traced(
    tmp_path: Path, database_url: str | None
) -> None:
    flags = {"server.read_only": True}
    async with quarterdeck_for_tests(tmp_path, database_url, settings=flags) as deck:
        # A server that offers everything, as one built by mistake would.
        async with connected(build_server(deck.services, Offer())) as client:
            assert (await client.answer("memory_retrieve", key="k"))["found"] is False
            for tool, operation, arguments in REFUSED:
                error = (await client.call(tool, **arguments)).error
                assert error["code"] == "DENIED"
                assert error["details"]["rule"] == "read-only"
                trace = await newest_trace(deck)
                assert (trace.workflow_id, trace.operation) == (f"mcp.{tool}", operation)
                assert payload_of(trace, EventType.ERROR)["code"] == "DENIED"
            assert (await client.answer("memory_list"))["total"] == 0
        async with connected(deck.server) as client:
            assert not WRITING & set(await names(client))


async def test_the_toolsets_setting_narrows_what_the_product_offers(
    tmp_path: Path, database_url: str | None
) -> None:
    flags = {"server.toolsets": "trace,meta"}
    async with (
        quarterdeck_for_tests(tmp_path, database_url, settings=flags) as deck,
        connected(deck.server) as client,
    ):
        assert await names(client) == TRACE + META
