"""What the daemon does for commands: checked and traced as a tool is, and for whom it knows."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import pytest

from quarterdeck.domain.access import OWNER, Scope
from quarterdeck.serve import commands_of
from quarterdeck.testing import Deck
from quarterdeck.tools.commanding import Commanded, Commanding
from quarterdeck.tools.commands import command_tools
from tests.support.records import root_traces
from tests.support.sites import Site, site
from tests.support.workshop import Workshop, workshop_tools

CREATE = {"name": "sony", "project": "Demo", "task": "/hang"}


@pytest.fixture
async def here(deck: Deck) -> AsyncIterator[Site]:
    async with site(deck, routes=[commands_of(deck.quarterdeck)]) as opened:
        yield opened


async def ask(
    here: Site, command: str, tool: str, secret: str | None = None, **arguments: object
) -> httpx2.Response:
    asked = {"command": command, "tool": tool, "arguments": arguments, "user": "user:tester"}
    async with here.http(secret or here.key) as http:
        return await http.post("/control/call", json=asked)


async def test_a_command_is_answered_as_its_tool_and_leaves_one_trace(here: Site) -> None:
    answer = await ask(here, "agents.create", "create_agent", **CREATE)
    assert (answer.status_code, answer.json()["agent"]["name"]) == (200, "sony")
    refused = await ask(here, "agents.create", "create_agent", **CREATE)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "CONFLICT"
    invalid = await ask(here, "agents.create", "create_agent", name="x", projekt="Demo")
    assert (invalid.status_code, "projekt" in invalid.text) == (400, True)
    assert (await ask(here, "agents.list", "list_agents")).json()["total_count"] == 1

    traces = await root_traces(here.deck)
    found = [(trace.workflow_id, trace.surface, trace.actor, trace.status) for trace in traces]
    assert found == [
        ("cli.agents.create", "cli", "user:tester", "failure"),
        ("cli.agents.create", "cli", "user:tester", "failure"),
        ("cli.agents.create", "cli", "user:tester", "success"),
    ]


async def test_an_admin_token_is_named_in_the_trace_and_others_are_refused(here: Site) -> None:
    admin = await here.token("boss", Scope.ADMIN)
    writer = await here.token("worker", Scope.WRITE, Scope.APPROVE)
    refused = await ask(here, "agents.create", "create_agent", writer.secret, **CREATE)
    assert refused.status_code == 403
    assert await root_traces(here.deck) == []
    await ask(here, "agents.create", "create_agent", admin.secret, **CREATE)
    (trace,) = await root_traces(here.deck)
    assert trace.actor == "token:boss user:tester"


async def test_what_is_no_command_is_refused(here: Site) -> None:
    assert (await ask(here, "agents.sing", "sing")).status_code == 404
    assert (await ask(here, "not a command!", "list_agents")).status_code == 400
    async with here.http(here.key) as http:
        assert (await http.post("/control/call", content=b"{")).status_code == 400


async def test_what_only_commands_ask_for_is_no_tool_of_a_model(deck: Deck) -> None:
    own = {spec.name for spec in command_tools(deck.quarterdeck.fleet).tools}
    assert {"merge_agent", "push_agent", "clean_fleet", "follow_log"} <= own
    assert not own & {tool.name for tool in await deck.server.list_tools()}


async def test_a_command_that_is_gone_no_longer_waits(here: Site) -> None:
    calls = here.deck.quarterdeck.calls
    await ask(here, "agents.create", "create_agent", **CREATE)
    waiting = asyncio.create_task(
        ask(here, "agents.wait", "wait_for_agent", agent_names=["sony"], timeout_seconds=50)
    )
    with anyio.fail_after(20):
        while not calls.running:  # noqa: ASYNC110 - nobody tells that a call began
            await anyio.sleep(0.01)
        waiting.cancel()
        await calls.until_idle()


async def test_what_changes_something_is_done_though_the_command_is_gone(deck: Deck) -> None:
    workshop = Workshop(deck)
    tools = {spec.name: spec for spec in workshop_tools(workshop).tools}
    commanding = Commanding(deck.quarterdeck.calls, tools)
    asked = Commanded("workshop.build", "build", {}, "user:tester")
    running: asyncio.Task[Any] = asyncio.create_task(commanding.run(asked, OWNER))
    await workshop.entered.wait()
    running.cancel()
    await asyncio.wait({running})
    workshop.released.set()
    await deck.quarterdeck.calls.until_idle()
    (trace,) = await root_traces(deck)
    assert (trace.workflow_id, trace.status) == ("cli.workshop.build", "success")
