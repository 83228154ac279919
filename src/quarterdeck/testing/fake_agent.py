"""An agent in memory: it carries out directives of the scripted agent, without a process."""

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

from quarterdeck.domain.agent_events import (
    AgentEvent,
    Noticed,
    PermissionRequest,
    Planned,
    Said,
    Spent,
    UsedTool,
)
from quarterdeck.domain.questions import Option, OptionKind
from quarterdeck.domain.tasks import StopReason, TurnEnd, Usage
from quarterdeck.errors import AgentFailed
from quarterdeck.ports.runtime import AgentSpec, RuntimeListener

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

OPTIONS = (
    Option(id="allow-once", name="Allow", kind=OptionKind.ALLOW_ONCE),
    Option(id="allow-always", name="Always allow", kind=OptionKind.ALLOW_ALWAYS),
    Option(id="reject-once", name="Reject", kind=OptionKind.REJECT_ONCE),
)


class Crashed(Exception):
    """The agent ended in the middle of its task."""

    def __init__(self, code: str) -> None:
        super().__init__(f"its process ended with exit code {code or 1}")


class _Refused(Exception):
    pass


class FakeAgent:
    """One agent; `files` is its workspace."""

    def __init__(self, spec: AgentSpec, listener: RuntimeListener, files: dict[str, str]) -> None:
        self.spec = spec
        self.is_stopped = False
        self._files = files
        self._listener = listener
        self._usage = Usage()
        self._work: asyncio.Task[None] | None = None
        self._directives: dict[str, Callable[[str], Awaitable[None]]] = {
            "say": self._say,
            "think": lambda text: self._tell(Said(text, is_thought=True)),
            "plan": self._plan,
            "write": self._write,
            "ask": self._ask,
            "usage": self._spend,
            "unknown": lambda text: self._tell(Noticed(f"scripted_surprise: {text}")),
            "slow": lambda text: asyncio.sleep(float(text)),
            "hang": lambda _: self._hang(),
            "refuse": self._refuse,
            "fail": self._fail,
            "crash": self._crash,
        }

    def end_turn(self) -> None:
        """Stop what it does, if it does anything."""
        if self._work:
            self._work.cancel()

    async def take_turn(self, text: str) -> TurnEnd:
        """Carry out a task, line by line."""
        self._usage = Usage()
        self._work = asyncio.create_task(self._carry_out(text))
        try:
            await asyncio.wait({self._work})
            if self._work.cancelled():
                return self._cancelled()
            self._work.result()
        except _Refused:
            return TurnEnd(StopReason.REFUSAL)
        return TurnEnd(StopReason.END_TURN, self._usage)

    def _cancelled(self) -> TurnEnd:
        if self.is_stopped:
            raise AgentFailed(self.spec.name, "it was stopped")
        return TurnEnd(StopReason.CANCELLED)

    async def _carry_out(self, text: str) -> None:
        for line in filter(None, map(str.strip, text.splitlines())):
            name, _, argument = line.partition(" ")
            directive = self._directives.get(name.removeprefix("/"), self._echo)
            await directive(argument if directive != self._echo else line)

    async def _tell(self, event: AgentEvent) -> None:
        await self._listener.heard(self.spec.agent_id, event)

    async def _say(self, text: str) -> None:
        await self._tell(Said(text))

    async def _echo(self, line: str) -> None:
        await self._say(f"You said: {line}")

    async def _plan(self, text: str) -> None:
        first, *others = (entry.strip() for entry in text.split(";"))
        entries = ((first, "in_progress"), *((entry, "pending") for entry in others))
        await self._tell(Planned(entries))

    async def _write(self, text: str) -> None:
        path, _, content = text.partition(" ")
        call_id = uuid4().hex
        for status in ("in_progress", "completed"):
            call = UsedTool(call_id, f"Write {path}", "edit", status=status, paths=(path,))
            await self._tell(call)
        self._files[path] = content

    async def _ask(self, title: str) -> None:
        request = PermissionRequest(title=title, tool_kind="execute", options=OPTIONS)
        chosen = await self._listener.asked(self.spec.agent_id, request)
        await self._say(f"permission: {chosen or 'cancelled'}")

    async def _spend(self, text: str) -> None:
        incoming, outgoing, cost = text.split()
        total = int(incoming) + int(outgoing)
        self._usage = Usage(
            input_tokens=int(incoming), output_tokens=int(outgoing), total_tokens=total
        )
        await self._tell(Spent(cost=float(cost), currency="USD", context_used=total))

    async def _hang(self) -> None:
        await asyncio.Event().wait()

    async def _refuse(self, _: str) -> None:
        raise _Refused

    async def _fail(self, text: str) -> None:
        raise AgentFailed(self.spec.name, text)

    async def _crash(self, code: str) -> None:
        raise Crashed(code)
