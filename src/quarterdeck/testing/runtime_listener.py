"""A listener that notes what a runtime tells, and answers questions as it was told to."""

from collections import defaultdict
from collections.abc import Callable

import anyio

from quarterdeck.domain.agent_events import AgentEvent, PermissionRequest, Said
from quarterdeck.domain.questions import OptionKind, option_of

PATIENCE_SECONDS = 30


class RecordingListener:
    """Notes everything; questions are answered with an option of the kind in `answer`."""

    def __init__(self) -> None:
        self.answer: OptionKind | None = OptionKind.ALLOW_ONCE
        self.events: defaultdict[str, list[AgentEvent]] = defaultdict(list)
        self.questions: list[tuple[str, PermissionRequest]] = []
        self.withdrawn: list[str] = []
        self.ends: list[tuple[str, str]] = []
        self._may_answer = anyio.Event()
        self._may_answer.set()
        self._changed = anyio.Event()

    def hold_answers(self) -> None:
        """Let questions wait until `release_answers`."""
        self._may_answer = anyio.Event()

    def release_answers(self) -> None:
        """Answer the questions that wait."""
        self._may_answer.set()

    async def heard(self, agent_id: str, event: AgentEvent) -> None:
        """Note an event."""
        self.events[agent_id].append(event)
        self._wake()

    async def asked(self, agent_id: str, request: PermissionRequest) -> str | None:
        """Note a question and answer it, now or when answers are released."""
        self.questions.append((agent_id, request))
        self._wake()
        try:
            await self._may_answer.wait()
        except anyio.get_cancelled_exc_class():
            self.withdrawn.append(agent_id)
            self._wake()
            raise
        chosen = option_of(request.options, self.answer) if self.answer else None
        return chosen.id if chosen else None

    async def gone(self, agent_id: str, reason: str) -> None:
        """Note that an agent ended by itself."""
        self.ends.append((agent_id, reason))
        self._wake()

    def said(self, agent_id: str) -> str:
        """Return what an agent has said, put together."""
        events = self.events[agent_id]
        return "".join(e.text for e in events if isinstance(e, Said) and not e.is_thought)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something that was told makes the condition true."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while not condition():
                await self._changed.wait()

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
