"""An agent made with the protocol's own package: `python example_agent.py` serves it.

It understands the directives that the contract of runtimes needs, and remembers nothing.
"""

import asyncio
import os
import uuid
from typing import TYPE_CHECKING, cast

import acp
from acp.helpers import SessionUpdate
from acp.schema import (
    AllowedOutcome,
    Cost,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PlanEntry,
    PromptResponse,
    StopReason,
    TextContentBlock,
    ToolCallLocation,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

OPTIONS = [
    PermissionOption(option_id="allow-once", name="Allow", kind="allow_once"),
    PermissionOption(option_id="reject-once", name="Reject", kind="reject_once"),
]


class TurnEnded(Exception):
    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason


class ExampleAgent:
    def __init__(self) -> None:
        self._usage: Usage | None = None
        self._work: asyncio.Task[None] | None = None
        self._has_begun = asyncio.Event()
        self._session = uuid.uuid4().hex
        self._directives: dict[str, Callable[[str], Awaitable[None]]] = {
            "/say": self._say,
            "/plan": self._plan,
            "/write": self._write,
            "/ask": self._ask,
            "/insist": self._insist,
            "/usage": self._spend,
            "/unknown": self._surprise,
            "/hang": self._hang,
            "/refuse": self._refuse,
            "/fail": self._fail,
            "/crash": self._crash,
        }

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: object) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: object) -> NewSessionResponse:
        return NewSessionResponse(session_id=self._session)

    async def prompt(
        self, session_id: str, prompt: list[TextContentBlock], **_: object
    ) -> PromptResponse:
        self._usage = None
        self._work = asyncio.create_task(self._carry_out(prompt[0].text))
        self._has_begun.set()
        try:
            await self._work
        except asyncio.CancelledError:
            return PromptResponse(stop_reason="cancelled")
        except TurnEnded as ended:
            return PromptResponse(stop_reason=ended.reason)
        return PromptResponse(stop_reason="end_turn", usage=self._usage)

    async def cancel(self, session_id: str, **_: object) -> None:
        # The package deals with all messages side by side: the prompt may not have got far.
        await self._has_begun.wait()
        assert self._work is not None
        self._work.cancel()

    async def _carry_out(self, text: str) -> None:
        for line in text.splitlines():
            name, _, argument = line.partition(" ")
            await self._directives[name](argument)

    async def _update(self, update: SessionUpdate | UsageUpdate) -> None:
        await self._client.session_update(self._session, update)

    async def _say(self, text: str) -> None:
        await self._update(acp.update_agent_message_text(text))

    async def _plan(self, text: str) -> None:
        first, *others = (entry.strip() for entry in text.split(";"))
        entries = [PlanEntry(content=first, priority="medium", status="in_progress")]
        entries += [acp.plan_entry(entry) for entry in others]
        await self._update(acp.update_plan(entries))

    async def _write(self, text: str) -> None:
        path = text.partition(" ")[0]
        call_id, where = uuid.uuid4().hex, [ToolCallLocation(path=path)]
        await self._update(
            acp.start_tool_call(call_id, f"Write {path}", kind="edit", locations=where)
        )
        await self._update(acp.update_tool_call(call_id, status="completed"))

    async def _ask(self, title: str) -> None:
        await self._say(f"permission: {await self._chosen(title)}")

    async def _insist(self, title: str) -> None:
        """As some do that cannot go on after a refusal."""
        if await self._chosen(title) != "allow-once":
            raise TurnEnded("cancelled")

    async def _chosen(self, title: str) -> str:
        call = ToolCallUpdate(tool_call_id=uuid.uuid4().hex, title=title, kind="execute")
        answer = await self._client.request_permission(self._session, call, OPTIONS)
        outcome = answer.outcome
        return outcome.option_id if isinstance(outcome, AllowedOutcome) else "cancelled"

    async def _spend(self, text: str) -> None:
        incoming, outgoing, cost = text.split()
        total = int(incoming) + int(outgoing)
        self._usage = Usage(
            input_tokens=int(incoming), output_tokens=int(outgoing), total_tokens=total
        )
        spent = Cost(amount=float(cost), currency="USD")
        await self._update(
            UsageUpdate(session_update="usage_update", used=total, size=1000, cost=spent)
        )

    async def _surprise(self, text: str) -> None:
        await self._client.ext_notification("surprise", {"text": text})

    async def _hang(self, _: str) -> None:
        await asyncio.Event().wait()

    async def _refuse(self, _: str) -> None:
        raise TurnEnded("refusal")

    async def _fail(self, text: str) -> None:
        raise acp.RequestError.internal_error({"details": text})

    async def _crash(self, code: str) -> None:
        os._exit(int(code))


if __name__ == "__main__":
    # The protocol's interface has many methods; those that are not there are not offered.
    asyncio.run(acp.run_agent(cast("acp.Agent", ExampleAgent())))
