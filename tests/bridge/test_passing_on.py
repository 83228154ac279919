"""What passes through the bridge beside requests and answers."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ElicitRequestParams, ElicitResult

from tests.bridge.conftest import Join
from tests.support.bridges import Bridge, Era
from tests.support.mcp_clients import ERAS as MODES
from tests.support.servers import QUARTERDECK, environment
from tests.support.workshop_daemons import Succession, Workshop

pytestmark = pytest.mark.xdist_group("bridge-1")

CHANGED = "notifications/tools/list_changed"
LISTENING: dict[str, object] = {"notifications": {"toolsListChanged": True}}


def official(home: Path, mode: str, **callbacks: Any) -> AbstractAsyncContextManager[mcp.Client]:  # noqa: ANN401 - the client's own options
    server = StdioServerParameters(command=str(QUARTERDECK), args=["mcp"], env=environment(home))
    return mcp.Client(stdio_client(server), mode=mode, **callbacks)


@pytest.mark.parametrize("mode", MODES)
async def test_progress(mode: str, daemons: Succession) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    assert daemons.current
    with anyio.fail_after(50):
        async with official(daemons.home, mode) as client:
            await client.call_tool("count_to", {"number": 3}, progress_callback=note)

    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@pytest.mark.parametrize("mode", MODES)
async def test_a_question_and_its_answer(mode: str, daemons: Succession) -> None:
    asked: list[str] = []

    async def answer(_context: object, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"value": "Ada"})

    assert daemons.current
    with anyio.fail_after(50):
        async with official(daemons.home, mode, elicitation_callback=answer) as client:
            result = await client.call_tool("ask", {"question": "Who are you?"})

    assert asked == ["Who are you?"]
    told = {"auto": "Ada (second round)", "legacy": "Ada"}
    assert result.structured_content == {"result": told[mode]}


async def test_a_subscription(daemons: Succession) -> None:
    with anyio.fail_after(50):
        assert daemons.current
        async with (
            official(daemons.home, "auto") as client,
            client.listen(tools_list_changed=True) as changes,
        ):
            daemons.current.change("subscribed")
            assert type(await anext(changes)).__name__ == "ToolsListChanged"
            names = [tool.name for tool in (await client.list_tools()).tools]

    assert "subscribed" in names


def test_a_change_reaches_a_client_of_the_older_protocol(daemons: Succession, attach: Join) -> None:
    client = attach("legacy")
    hear_a_change(client, daemons.current)
    assert client.kept("notifications/subscriptions/acknowledged") == []


def hear_a_change(client: Bridge, daemon: Workshop) -> None:
    """Change something until the client is told; its stream may not be open at first."""
    for number in range(100):
        daemon.change(f"heard{id(client)}x{number}")
        if client.is_told(CHANGED):
            return
    pytest.fail("The client was not told of a change")


def test_a_cancelled_call_is_cancelled_and_no_other(
    daemons: Succession, attach: Join, era: Era
) -> None:
    client = attach(era)
    cancelled = client.start_tool("slow_write", label="cancelled")
    other = client.start_tool("slow_write", label="other")
    for label in ("cancelled", "other"):
        daemons.current.await_event("entered", label)

    client.notify("notifications/cancelled", requestId=cancelled, reason="no longer needed")

    daemons.current.await_event("cancelled", "cancelled")
    daemons.current.release("other")
    assert client.result(other)["structuredContent"] == {"result": "other"}
    assert client.tool("count_to", number=1) == {"result": 1}
    assert not daemons.current.has_said("cancelled", "other")
    code, logged, rest = client.end()
    assert (code, logged) == (0, "")
    assert [message for message in rest if message.get("id") == cancelled] == []


def test_a_second_request_with_the_id_of_a_running_one_is_refused(
    daemons: Succession, attach: Join, era: Era
) -> None:
    client = attach(era)
    number = client.start_tool("slow_read", label=f"{era}-first")
    daemons.current.await_event("entered", f"{era}-first")

    client.post({"id": number, "method": "tools/call", "params": {"name": "memory_list"}})

    assert client.answer(number)["result"]["structuredContent"]["error"]["code"] == "INVALID_INPUT"
    daemons.current.release(f"{era}-first")
    assert client.result(number)["structuredContent"] == {"result": f"{era}-first"}


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_stops_waiting_cancels_the_call(mode: str, daemons: Succession) -> None:
    assert daemons.current
    with anyio.fail_after(50):
        async with official(daemons.home, mode) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "slow_write", {"label": "left"})
                await anyio.to_thread.run_sync(daemons.current.await_event, "entered", "left")
                tasks.cancel_scope.cancel()
            await anyio.to_thread.run_sync(daemons.current.await_event, "cancelled", "left")
            result = await client.call_tool("count_to", {"number": 1})
    assert result.structured_content == {"result": 1}


def test_a_question_of_a_cancelled_call_is_withdrawn(daemons: Succession, attach: Join) -> None:
    client = attach("legacy")
    call = client.start_tool("ask", question="Who?")
    question = client.asked("elicitation/create")

    client.notify("notifications/cancelled", requestId=call)

    assert client.told("notifications/cancelled")["requestId"] == question["id"]
    assert client.tool("count_to", number=1) == {"result": 1}


def test_a_client_that_leaves_cancels_what_it_waited_for(
    daemons: Succession, attach: Join, era: Era
) -> None:
    client = attach(era)
    client.start_tool("slow_write", label=f"{era}-leaves")
    daemons.current.await_event("entered", f"{era}-leaves")
    assert client.end()[:2] == (0, "")
    daemons.current.await_event("cancelled", f"{era}-leaves")


def test_a_modern_round_of_input_is_passed_on_as_it_is(daemons: Succession, attach: Join) -> None:
    client = attach("modern")
    ask: dict[str, Any] = {"name": "ask", "arguments": {"question": "Who?"}}
    first = client.ask("tools/call", **ask)["result"]
    assert first["resultType"] == "input_required"
    assert first["inputRequests"]["name"]["method"] == "elicitation/create"

    given = {"name": {"action": "accept", "content": {"value": "Ada"}}}
    second = client.start(
        "tools/call", **ask, inputResponses=given, requestState=first["requestState"]
    )

    assert client.result(second)["structuredContent"] == {"result": "Ada (second round)"}
