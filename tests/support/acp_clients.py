"""A client of the official ACP package that remembers what an agent sends."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast

import acp
import anyio
from acp.connection import StreamEvent
from acp.core import ClientSideConnection
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    PermissionOption,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
    UserMessageChunk,
)

LONGEST_LINE = 16 * 1024**2


class RecordingClient:
    """Remembers updates and answers every question by the option of one kind.

    Not an `acp.Client` by name, which would have to have every method of the protocol.
    """

    def __init__(self, chooses: str = "allow_once") -> None:
        self.updates: list[object] = []
        self.updated = anyio.Event()
        self.asked: list[ToolCallUpdate] = []
        self._chooses = chooses

    @property
    def said(self) -> str:
        """Everything the agent said so far."""
        return self._text_of(AgentMessageChunk)

    @property
    def heard(self) -> str:
        """Everything the agent repeated of what it was asked."""
        return self._text_of(UserMessageChunk)

    def _text_of(self, kind: type[AgentMessageChunk | UserMessageChunk]) -> str:
        contents = [update.content for update in self.updates if isinstance(update, kind)]
        return "".join(each.text for each in contents if isinstance(each, TextContentBlock))

    def on_connect(self, conn: acp.Agent) -> None:
        pass

    async def session_update(self, session_id: str, update: object, **_: object) -> None:
        self.updates.append(update)
        self.updated.set()

    async def request_permission(
        self,
        session_id: str,
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **_: object,
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        for option in options:
            if option.kind == self._chooses:
                chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
                return RequestPermissionResponse(outcome=chosen)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    async def read_text_file(
        self,
        session_id: str,
        path: str,
        line: int | None = None,
        limit: int | None = None,
        **_: object,
    ) -> ReadTextFileResponse:
        return ReadTextFileResponse(content=f"{path}, by the client")


@asynccontextmanager
async def connected(
    client: RecordingClient,
    command: Sequence[str],
    variables: Mapping[str, str] | None = None,
    wire: list[StreamEvent] | None = None,
) -> AsyncGenerator[ClientSideConnection]:
    """Start an agent and shake hands; every message goes to `wire` as it is."""
    async with acp.spawn_agent_process(
        cast("acp.Client", client),
        *command,
        env={**acp.default_environment(), **(variables or {})},
        transport_kwargs={"limit": LONGEST_LINE},
        observers=[wire.append] if wire is not None else [],
    ) as (agent, _):
        await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True)),
        )
        yield agent
