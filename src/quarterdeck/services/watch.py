"""One wait for agents: what was seen last, and the time that is left."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio

from quarterdeck.domain.fleet_answers import AgentState
from quarterdeck.domain.questions import Question
from quarterdeck.services.asking import Asking
from quarterdeck.services.progress import report_progress

# Agents of other processes wake nobody here, so they are looked at this often.
LOOK_SECONDS = 1.0
_TITLE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Seen:
    """One agent at one moment."""

    state: AgentState
    question: Question | None


Look = Callable[[], Awaitable[Sequence[Seen]]]


class Watch:
    """Looks at agents, at once when `changed` is set and now and then, until time is up."""

    def __init__(
        self, look: Look, changed: asyncio.Event, seconds: float, *, waited: float = 0
    ) -> None:
        """Time begins now; `waited` of the `seconds` are over already."""
        self._look = look
        self._changed = changed
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._began_at = self._loop.time() - waited
        self._seen: Sequence[Seen] = ()

    @property
    def left(self) -> float:
        """Return the seconds until time is up."""
        return self._began_at + self._seconds - self._loop.time()

    @property
    def states(self) -> list[AgentState]:
        """Return how the agents were."""
        return [seen.state for seen in self._seen]

    @property
    def question(self) -> Question | None:
        """Return the oldest of the open questions."""
        found = [seen.question for seen in self._seen if seen.question is not None]
        return min(found, key=lambda question: (question.asked_at, question.id), default=None)

    def is_open(self, question: Question) -> bool:
        """Return whether an agent still waits for the answer."""
        return any(seen.question and seen.question.id == question.id for seen in self._seen)

    async def look(self) -> list[AgentState]:
        """See how the agents are, and tell who waits."""
        self._changed.clear()
        self._seen = await self._look()
        done = min(self._seconds - self.left, self._seconds)
        await report_progress(done, self._seconds, line_of(self.states))
        return self.states

    async def pause(self, other: "asyncio.Future[str | None] | None" = None) -> None:
        """Wait until it is worth while to look again, or until the `other` is done."""
        change = asyncio.ensure_future(self._changed.wait())
        awaited = {change} if other is None else {change, other}
        try:
            seconds = max(min(self.left, LOOK_SECONDS), 0)
            await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            change.cancel()

    async def ask(self, asking: Asking, question: Question) -> str | None:
        """Ask the person for as long as the question is open and there is time."""
        answer = asyncio.ensure_future(asking.ask(question))
        try:
            while not answer.done() and self.is_open(question) and self.left > 0:
                await self.pause(answer)
                await self.look()
        finally:
            is_late = not answer.done()
            answer.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({answer})  # what they are still asked is taken back first
        return None if is_late else answer.result()


def line_of(states: Sequence[AgentState]) -> str:
    """Return how agents are, in words."""
    return ", ".join(_words(state) for state in states)


def _words(state: AgentState) -> str:
    asks = f" and asks: {state.waiting_for.title[:_TITLE_LENGTH]}" if state.waiting_for else ""
    return f"{state.name} is {state.status.value}{asks}"
