"""An agent made with the official ACP package: it echoes, asks when told to, and can load."""

import asyncio
import os
from pathlib import Path
from typing import cast
from uuid import uuid4

import acp
from acp.schema import (
    AgentCapabilities,
    AllowedOutcome,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    TextContentBlock,
    ToolCallUpdate,
)

STATE = Path(os.environ["EXAMPLE_AGENT_STATE"])
YES = PermissionOption(option_id="yes", name="Yes", kind="allow_once")
NO = PermissionOption(option_id="no", name="No", kind="reject_once")


class ExampleAgent:
    """Knows nothing of Quarterdeck, so that what we build is not tested on our own agent alone."""

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: object) -> InitializeResponse:
        can = AgentCapabilities(load_session=True)
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=can)

    async def new_session(self, cwd: str, **_: object) -> NewSessionResponse:
        session_id = uuid4().hex
        (STATE / session_id).touch()
        return NewSessionResponse(session_id=session_id)

    async def load_session(self, cwd: str, session_id: str, **_: object) -> LoadSessionResponse:
        if not (STATE / session_id).exists():
            raise acp.RequestError.resource_not_found(session_id)
        await self._say(session_id, (STATE / session_id).read_text(encoding="utf-8"))
        return LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[object], **_: object) -> PromptResponse:
        text = "".join(block.text for block in prompt if isinstance(block, TextContentBlock))
        answer = await self._permission(session_id) if text == "ask" else text
        (STATE / session_id).write_text(answer, encoding="utf-8")
        await self._say(session_id, answer)
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: object) -> None:
        pass

    async def _permission(self, session_id: str) -> str:
        call = ToolCallUpdate(tool_call_id="call", title="Do it", kind="execute")
        answer = await self._client.request_permission(
            session_id=session_id, tool_call=call, options=[YES, NO]
        )
        outcome = answer.outcome
        return outcome.option_id if isinstance(outcome, AllowedOutcome) else "nobody chose"

    async def _say(self, session_id: str, text: str) -> None:
        await self._client.session_update(session_id, acp.update_agent_message_text(text))


if __name__ == "__main__":
    asyncio.run(acp.run_agent(cast("acp.Agent", ExampleAgent())))
