"""Two independent MCP clients behind one face, and a walk through every tool."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import fastmcp
import httpx2
import mcp
from fastmcp.client.transports import StdioTransport
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.support.fleet_schemas import ANSWERS, complaints
from tests.support.servers import QUARTERDECK, bearer, environment

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
Json = dict[str, Any]


class ToolClient(Protocol):
    async def names(self) -> list[str]: ...

    async def call(self, name: str, arguments: Json) -> Json:
        """Return the structured answer; an error fails the test."""
        ...


class Official:
    def __init__(self, client: mcp.Client) -> None:
        self._client = client

    async def names(self) -> list[str]:
        return [tool.name for tool in (await self._client.list_tools()).tools]

    async def call(self, name: str, arguments: Json) -> Json:
        result = await self._client.call_tool(name, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content


class FastMcp:
    def __init__(self, client: fastmcp.Client[Any]) -> None:
        self._client = client

    async def names(self) -> list[str]:
        return [tool.name for tool in await self._client.list_tools()]

    async def call(self, name: str, arguments: Json) -> Json:
        result = await self._client.call_tool_mcp(name, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content


Connecting = AbstractAsyncContextManager[ToolClient]


@asynccontextmanager
async def official_stdio(
    mode: str, home: Path, log: Path, flags: Sequence[str] = ("--standalone",)
) -> AsyncGenerator[ToolClient]:
    server = StdioServerParameters(
        command=str(QUARTERDECK), args=["mcp", *flags], env=environment(home)
    )
    with log.open("w", encoding="utf-8") as stderr:
        async with mcp.Client(stdio_client(server, errlog=stderr), mode=mode) as client:
            assert client.protocol_version == ERAS[mode]
            yield Official(client)


@asynccontextmanager
async def fastmcp_stdio(
    mode: str, home: Path, log: Path, flags: Sequence[str] = ("--standalone",)
) -> AsyncGenerator[ToolClient]:
    transport = StdioTransport(
        str(QUARTERDECK),
        ["mcp", *flags],
        env=environment(home),
        keep_alive=False,
        log_file=log,
    )
    async with fastmcp.Client(transport, mode=mode) as client:
        assert client.protocol_version == ERAS[mode]
        yield FastMcp(client)


@asynccontextmanager
async def official_http(mode: str, url: str, secret: str) -> AsyncGenerator[ToolClient]:
    async with (
        httpx2.AsyncClient(headers=bearer(secret), timeout=30) as http,
        mcp.Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        assert client.protocol_version == ERAS[mode]
        yield Official(client)


@asynccontextmanager
async def fastmcp_http(mode: str, url: str, secret: str) -> AsyncGenerator[ToolClient]:
    async with fastmcp.Client(url, auth=secret, mode=mode) as client:
        assert client.protocol_version == ERAS[mode]
        yield FastMcp(client)


STDIO_CLIENTS: dict[str, Callable[..., Connecting]] = {
    "official": official_stdio,
    "fastmcp": fastmcp_stdio,
}
HTTP_CLIENTS: dict[str, Callable[[str, str, str], Connecting]] = {
    "official": official_http,
    "fastmcp": fastmcp_http,
}


async def call_fleet_tools(call: Callable[..., Awaitable[Json]]) -> None:
    """See an agent through its life: created, at work, asking, stopped, restarted, deleted."""
    [project] = (await call("list_agent_projects"))["projects"]
    [role] = (await call("list_agent_roles", project=project["name"]))["roles"]
    sony = {"agent_name": "sony"}
    await call("create_agent", name="sony", project="Demo", task="/write a.txt ahoy", role="coder")
    finished = await call("wait_for_agent", agent_names=["sony"])
    assert [agent["status"] for agent in finished["agents"]] == ["idle"]
    assert (await call("list_agents"))["agents"][0]["role"] == role["name"]
    assert (await call("show_agent", **sony))["agent"]["last_task"] == "/write a.txt ahoy"
    assert [file["path"] for file in (await call("show_agent_diff", **sony))["files"]] == ["a.txt"]
    await call("start_agent_task", **sony, task_description="/ask May I?\n/hang")
    await call("wait_for_agent", agent_names=["sony"], until="question")
    [question] = (await call("question_list", **sony))["questions"]
    answered = await call("question_answer", question_id=question["question_id"], kind="allow_once")
    assert answered["question"]["state"] == "answered"
    assert (await call("cancel_agent_task", **sony))["stopped"] is True
    history = await call("show_agent_task_history", **sony)
    assert [task["state"] for task in history["tasks"]] == ["canceled", "done"]
    assert (await call("show_agent_log", **sony, page_size=50))["total_count"] > 4
    await call("restart_agent", **sony)
    assert "branch" in (await call("delete_agent", **sony))["message"]
    assert (await call("list_agents"))["agents"] == []


async def call_every_tool(client: ToolClient) -> None:
    """Call each listed tool with a sensible argument, and look at what it answers."""
    answers: dict[str, Json] = {}

    async def call(name: str, /, **arguments: object) -> Json:
        answers[name] = await client.call(name, arguments)
        if name in ANSWERS:
            assert complaints(ANSWERS[name], answers[name]) == []
        return answers[name]

    await call_fleet_tools(call)
    entry = {"key": "greeting", "value": {"text": "ahoy", "to": None}}
    await call("memory_store", **entry)
    assert (await call("memory_retrieve", key="greeting"))["value"] == entry["value"]
    assert (await call("memory_search", query="ahoy"))["results"][0]["key"] == "greeting"
    assert (await call("memory_list", prefix="greet"))["total"] == 1
    assert (await call("memory_delete", key="greeting"))["deleted"] is True
    newest = (await call("trace_list", limit=1))["traces"][0]
    assert newest["workflowId"] == "mcp.memory_delete"
    trace = await call("trace_get", traceId=newest["traceId"])
    assert [event["type"] for event in trace["events"]][-1] == "run.end"
    analysis = await call("trace_analyze", traceId=newest["traceId"])
    assert analysis["metrics"]["errorCount"] == 0
    assert (await call("mcp_list_resources"))["total_resources"] == 1
    assert sorted(answers) == sorted(await client.names())
