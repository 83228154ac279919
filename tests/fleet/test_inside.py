"""Quarterdeck inside the agent: its own token, its own scopes, and nothing beyond them."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from tests.support.daemons import quarterdeck
from tests.support.servers import http_server, key_of

CONFIG = """\
[projects.Setup]
folder = "{folder}"

[roles.coder]
agent = "scripted"
quarterdeck = ["write"]

[roles.reader]
agent = "scripted"
quarterdeck = ["read"]

[roles.outsider]
agent = "scripted"
"""

pytestmark = [pytest.mark.timeout(120), pytest.mark.xdist_group("inside")]


@dataclass(frozen=True)
class Fleet:
    client: Client[Any]

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = await self.client.call_tool(tool, arguments, raise_on_error=False)
        assert answer.structured_content is not None
        return answer.structured_content

    async def said(self, name: str, role: str, task: str) -> str:
        """Create an agent, wait for the end of its task, and return what it reported."""
        await self.call("create_agent", name=name, project="Setup", role=role, task=task)
        await self.call("wait_for_agent", agent_names=[name])
        history = await self.call("show_agent_task_history", agent_name=name)
        return str(history["tasks"][0]["result"])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
async def fleet(home: Path) -> AsyncGenerator[Fleet]:
    folder = home.with_name("work")
    folder.mkdir()
    (home / "quarterdeck").mkdir(parents=True, mode=0o700)
    text = CONFIG.format(folder=folder)
    (home / "quarterdeck" / "config.toml").write_text(text, encoding="utf-8")
    with http_server(home=home) as (url, _):
        transport = StreamableHttpTransport(f"{url}/mcp", auth=key_of(home))
        async with Client(transport) as client:
            yield Fleet(client)


async def test_an_agent_shares_the_memory_under_its_own_name(fleet: Fleet) -> None:
    value = json.dumps({"key": "login", "value": {"text": "use UTC"}})
    await fleet.said("sony", "coder", f"/mcp memory_store {value}")
    stored = await fleet.call("memory_retrieve", key="login")
    assert stored["value"] == {"text": "use UTC"}
    traces = await fleet.call("trace_list", limit=100)
    (trace,) = [each for each in traces["traces"] if each["workflowId"] == "mcp.memory_store"]
    detail = await fleet.call("trace_get", traceId=trace["traceId"])
    assert "agent:sony" in json.dumps(detail)


async def test_an_agent_that_may_read_cannot_write(fleet: Fleet) -> None:
    value = json.dumps({"key": "login", "value": {"text": "use UTC"}})
    said = await fleet.said("sony", "reader", f"/mcp memory_store {value}")
    assert "NOT_FOUND" in said
    assert (await fleet.call("memory_retrieve", key="login"))["found"] is False


async def test_no_agent_can_answer_questions(fleet: Fleet) -> None:
    said = await fleet.said("sony", "coder", "/mcp question_list {}")
    assert "NOT_FOUND" in said


async def test_an_agent_can_create_another_if_it_may_write(fleet: Fleet) -> None:
    order = json.dumps({"name": "papi", "project": "Setup", "task": "/say here"})
    await fleet.said("sony", "coder", f"/mcp create_agent {order}")
    waited = await fleet.call("wait_for_agent", agent_names=["papi"])
    assert waited["agents"][0]["last_report"] == "here"


async def test_an_agent_whose_role_says_nothing_gets_no_endpoint(fleet: Fleet) -> None:
    said = await fleet.said("sony", "outsider", "/mcp memory_list {}")
    assert "no " in said.lower()


async def test_the_token_of_an_agent_ends_with_it(fleet: Fleet, home: Path) -> None:
    await fleet.said("sony", "coder", "/say hello")
    assert "agent:sony" in tokens_of(home)
    await fleet.call("delete_agent", agent_name="sony")
    assert tokens_of(home) == ""


def tokens_of(home: Path) -> str:
    tokens = json.loads(quarterdeck("token", "list", "--json", home=home).stdout)["tokens"]
    return " ".join(token["name"] for token in tokens)
