"""What goes wrong inside a tool leaves by declared codes only, and without its text."""

import asyncio
import logging
from collections.abc import Iterator

import pytest
from fastmcp.exceptions import NotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR
from pydantic import TypeAdapter, ValidationError

from quarterdeck.domain.trace import EventType
from quarterdeck.errors import (
    Conflict,
    Denied,
    QuarterdeckError,
    StorageUnavailable,
    TimedOut,
    TraceNotFound,
)
from quarterdeck.testing import Deck
from tests.requirements import requirement
from tests.support.clients import Era, ToolClient, connected
from tests.support.records import newest_trace, payload_of
from tests.support.refusing import refused_traces
from tests.support.workshop import Workshop, server_with, workshop_tools

LEAK = "the text of a foreign exception"


def declared(kind: type[QuarterdeckError] = QuarterdeckError) -> Iterator[str]:
    yield kind.code
    for below in kind.__subclasses__():
        yield from declared(below)


def bugs() -> list[Exception]:
    """Return what a bug, a library or the protocol might raise inside a tool."""
    with pytest.raises(ValidationError) as invalid:
        TypeAdapter(int).validate_python(LEAK)
    return [
        RuntimeError(LEAK),
        KeyError(LEAK),
        AssertionError(LEAK),
        OSError(2, LEAK),
        TimeoutError(LEAK),
        asyncio.InvalidStateError(LEAK),
        ExceptionGroup(LEAK, [ValueError(LEAK)]),
        invalid.value,
        ToolError(LEAK),
        NotFoundError(LEAK),
        MCPError(code=-32000, message=LEAK),
        UnicodeDecodeError("utf-8", LEAK.encode(), 0, 1, LEAK),
    ]


@requirement("INV-MCP-003")
async def test_a_foreign_exception_is_an_internal_error_with_a_reference_and_no_text(
    deck: Deck, era: Era, caplog: pytest.LogCaptureFixture
) -> None:
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop)), era) as client:
        for bug in bugs():
            for tool in ("fail", "raise_outside"):
                caplog.clear()
                workshop.failure = bug
                reply = await client.call(tool)
                trace = await newest_trace(deck)
                assert reply.error == {
                    "code": "INTERNAL_ERROR",
                    "message": "Quarterdeck failed to carry out the request",
                    "details": {
                        "reference": trace.trace_id,
                        "hint": "the server's log has the details under this reference",
                    },
                }
                assert LEAK not in "".join(event.payload for event in trace.events)
                assert payload_of(trace, EventType.ERROR) == {
                    "code": "INTERNAL_ERROR",
                    "message": f"{reply.error['message']} ({type(bug).__name__})",
                }
                assert f"Call {trace.trace_id} failed" in caplog.messages
                assert LEAK in caplog.text


@requirement("INV-MCP-003")
async def test_an_error_of_ours_keeps_its_code_message_and_details(deck: Deck, era: Era) -> None:
    workshop = Workshop(deck)
    async with connected(server_with(deck, workshop_tools(workshop)), era) as client:
        for error in (
            Conflict("The workshop is busy", details={"until": "noon"}, hint="come back later"),
            Denied("No entry", details={"rule": "closed"}),
            TimedOut("Too late"),
            StorageUnavailable("disk full"),
            TraceNotFound("t"),
        ):
            workshop.failure = error
            reply = await client.call("fail")
            assert reply.body == error.body()
            assert reply.error["code"] in set(declared())
            assert payload_of(await newest_trace(deck), EventType.ERROR) == {
                "code": error.code,
                "message": error.message,
            }


async def test_an_error_of_ours_is_not_logged_as_a_bug(
    deck: Deck, caplog: pytest.LogCaptureFixture
) -> None:
    workshop = Workshop(deck)
    workshop.failure = Conflict("The workshop is busy")
    async with connected(server_with(deck, workshop_tools(workshop))) as client:
        await client.call("fail")
        await client.call("no_such_tool")
        await client.refusal("nest")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_an_unknown_tool_is_not_found_and_names_the_closest(client: ToolClient) -> None:
    assert (await client.call("memory_stor", key="k")).error == {
        "code": "NOT_FOUND",
        "message": "Tool 'memory_stor' not found",
        "details": {
            "tool": "memory_stor",
            "closest": "memory_store",
            "hint": "did you mean 'memory_store'?",
        },
    }
    assert (await client.call("xyz")).error["details"] == {
        "tool": "xyz",
        "hint": "tools/list shows what is offered",
    }


async def test_a_call_that_cannot_be_recorded_fails_without_the_text_of_the_database(
    client: ToolClient, deck: Deck, caplog: pytest.LogCaptureFixture
) -> None:
    @deck.server.resource("test://there")
    def _there() -> str:
        return "content"

    with refused_traces(deck):
        errors = [
            (await client.call("memory_store", key="k", value={})).error,
            (await client.call("memory_list")).error,
            (await client.call("mcp_list_resources")).error,
        ]
        with pytest.raises(MCPError) as caught:
            await client.mcp.read_resource("test://there")
    assert caught.value.code == INTERNAL_ERROR
    for error in (*errors, caught.value.data):
        assert error["code"] == "INTERNAL_ERROR"
        assert error["message"] == "Quarterdeck failed to carry out the request"
        assert f"Call {error['details']['reference']} failed" in caplog.messages
        assert "traces" not in str(error)
    assert caught.value.message == errors[0]["message"]
    assert (await client.answer("memory_list"))["total"] == 0
