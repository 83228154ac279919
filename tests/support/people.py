"""Clients with a person at them who can be asked, by two independent implementations."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import fastmcp
import httpx2
import mcp
from fastmcp.client.transports import ClientTransport, StdioTransport, StreamableHttpTransport
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitRequestFormParams, ElicitResult

from tests.support.servers import QUARTERDECK, bearer, environment

Json = dict[str, Any]
Reply = Callable[[ElicitRequestFormParams], Awaitable[ElicitResult]]
CLIENTS = ("official", "fastmcp")
CALL_SECONDS = 60


def choosing(option_id: str) -> Reply:
    async def reply(_asked: ElicitRequestFormParams) -> ElicitResult:
        return ElicitResult(action="accept", content={"answer": option_id})

    return reply


ALLOW = choosing("allow-once")


@dataclass
class Person:
    """Notes the forms they are shown and answers them as `reply` says."""

    reply: Reply = ALLOW
    forms: list[ElicitRequestFormParams] = field(default_factory=list[ElicitRequestFormParams])

    @property
    def asked(self) -> list[str]:
        return [form.message for form in self.forms]

    async def official(self, context: object, params: Any) -> ElicitResult:  # noqa: ANN401 - as the client has it
        del context
        self.forms.append(params)
        return await self.reply(params)

    async def fastmcp(self, _message: str, _type: object, params: Any, _context: object) -> Any:  # noqa: ANN401 - as the client has it
        self.forms.append(params)
        return await self.reply(params)


class Step(NamedTuple):
    done: float
    total: float | None
    words: str | None


class Caller(Protocol):
    steps: list[Step]

    async def call(self, tool: str, /, **arguments: object) -> CallToolResult: ...


class Official:
    def __init__(self, client: mcp.Client) -> None:
        self._client = client
        self.steps: list[Step] = []

    async def call(self, tool: str, /, **arguments: object) -> CallToolResult:
        return await self._client.call_tool(tool, arguments, progress_callback=self._note)

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append(Step(progress, total, message))


class FastMcp:
    def __init__(self, client: fastmcp.Client[Any]) -> None:
        self._client = client
        self.steps: list[Step] = []

    async def call(self, tool: str, /, **arguments: object) -> CallToolResult:
        return await self._client.call_tool_mcp(tool, arguments, progress_handler=self._note)

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append(Step(progress, total, message))


def at_http(
    kind: str, era: str, url: str, secret: str, person: Person | None
) -> AbstractAsyncContextManager[Caller]:
    """Connect over HTTP; without a person the client does not say that it can ask."""
    if kind == "official":
        return _official_http(era, url, secret, person)
    return _fastmcp(era, StreamableHttpTransport(url, headers=bearer(secret)), person)


def at_bridge(
    kind: str, era: str, home: Path, person: Person | None
) -> AbstractAsyncContextManager[Caller]:
    """Connect over the stdio of `quarterdeck mcp`."""
    if kind == "official":
        server = StdioServerParameters(
            command=str(QUARTERDECK), args=["mcp"], env=environment(home)
        )
        return _official(era, stdio_client(server), person)
    transport = StdioTransport(str(QUARTERDECK), ["mcp"], env=environment(home), keep_alive=False)
    return _fastmcp(era, transport, person)


@asynccontextmanager
async def _official_http(
    era: str, url: str, secret: str, person: Person | None
) -> AsyncGenerator[Caller]:
    async with (
        httpx2.AsyncClient(headers=bearer(secret), timeout=CALL_SECONDS) as http,
        _official(era, streamable_http_client(url, http_client=http), person) as caller,
    ):
        yield caller


@asynccontextmanager
async def _official(era: str, transport: Any, person: Person | None) -> AsyncGenerator[Caller]:  # noqa: ANN401 - any transport
    ask = person.official if person else None
    async with mcp.Client(transport, mode=era, elicitation_callback=ask) as client:
        yield Official(client)


@asynccontextmanager
async def _fastmcp(
    era: str, transport: ClientTransport, person: Person | None
) -> AsyncGenerator[Caller]:
    ask = person.fastmcp if person else None
    async with fastmcp.Client(transport, mode=era, elicitation_handler=ask) as client:
        yield FastMcp(client)
