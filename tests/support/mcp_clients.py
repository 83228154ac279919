"""Two independent MCP clients behind one face, and a walk through every tool."""

from collections.abc import AsyncGenerator, Callable, Sequence
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


async def call_every_tool(client: ToolClient) -> None:
    """Call each listed tool with a sensible argument, and look at what it answers."""
    answers: dict[str, Json] = {}

    async def call(name: str, **arguments: object) -> Json:
        answers[name] = await client.call(name, arguments)
        return answers[name]

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
