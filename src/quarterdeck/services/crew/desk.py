"""Where agents' questions wait for an answer: of a policy, of a person, or of the clock."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from quarterdeck.domain.agent_events import PermissionRequest
from quarterdeck.domain.agent_log import LogKind, LogLevel, LogRole
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.questions import (
    Option,
    Question,
    QuestionState,
    allowing,
    option_of_id,
    rejecting,
)
from quarterdeck.domain.roles import PermissionPolicy
from quarterdeck.errors import QuestionClosed, QuestionNotFound
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.fleet import QuestionRepository
from quarterdeck.ports.store import Store, Transaction
from quarterdeck.services.crew.changes import Changes
from quarterdeck.services.crew.log_writer import LogWriter, Voice
from quarterdeck.services.crew.persistence import write_for_sure

TITLE_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, in which task, and what its role has decided beforehand."""

    agent_id: str
    agent_name: str
    task_id: str | None
    policy: PermissionPolicy


class QuestionDesk:
    """The open questions of this process's agents."""

    def __init__(
        self,
        store: Store,
        questions: QuestionRepository,
        clock: Clock,
        log: LogWriter,
        changes: Changes,
        daemon_id: str,
    ) -> None:
        """Questions are kept in `questions` from the moment they are asked."""
        self._store = store
        self._questions = questions
        self._clock = clock
        self._log = log
        self._changes = changes
        self._daemon_id = daemon_id
        self._waiting: dict[str, asyncio.Future[str | None]] = {}
        self._of_agent: dict[str, set[str]] = {}

    async def decide(self, asker: Asker, request: PermissionRequest) -> str | None:
        """Return the option to choose; `None` when the question was withdrawn."""
        decision = asker.policy.decide(request.tool_kind)
        chosen = {"allow": allowing, "reject": rejecting}.get(decision, _nobody)(request.options)
        if chosen is not None:
            rule = f"the role's policy for {request.tool_kind!r} is {decision!r}"
            await self._tell(asker, f"{request.title}: {chosen.name} ({rule})")
            return chosen.id
        if decision == "reject":
            return None  # it offers no way to say no, but to withdraw
        return await self._ask(asker, request)

    def answer(
        self, tx: Transaction, question_id: str, choose: Callable[[Question], Option], by: str
    ) -> Question:
        """Write an answer down; the agent hears it by `hand_over`, once it is durable."""
        question = self._questions.find(tx, question_id)
        if question is None:
            raise QuestionNotFound(question_id)
        if question.state is not QuestionState.OPEN:
            raise QuestionClosed(question_id, question.state.value)
        answered = replace(
            question,
            state=QuestionState.ANSWERED,
            option_id=choose(question).id,
            answered_by=by,
            answered_at=self._clock.now(),
        )
        self._questions.save(tx, answered)
        return answered

    def hand_over(self, question_id: str, option_id: str) -> None:
        """Give an answer that was written down to the agent that waits for it."""
        waiting = self._waiting.get(question_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(option_id)

    def withdraw(self, agent_id: str) -> None:
        """Tell an agent's open questions that nobody will answer them."""
        for question_id in self._of_agent.get(agent_id, set()):
            waiting = self._waiting.get(question_id)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    async def _ask(self, asker: Asker, request: PermissionRequest) -> str | None:
        question = self._question(asker, request)
        waiting: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        self._of_agent.setdefault(asker.agent_id, set()).add(question.id)
        try:
            await self._store.write(lambda tx: self._questions.add(tx, question))
            await self._tell(asker, f"Asks: {question.title} (question {question.id})")
            self._changes.tell()
            return await self._answered(asker, question, waiting)
        finally:
            del self._waiting[question.id]
            mine = self._of_agent[asker.agent_id]
            mine.discard(question.id)
            if not mine:
                del self._of_agent[asker.agent_id]
            self._changes.tell()

    async def _answered(
        self, asker: Asker, question: Question, waiting: "asyncio.Future[str | None]"
    ) -> str | None:
        left = (question.deadline - self._clock.now()).total_seconds()
        try:
            chosen = await asyncio.wait_for(asyncio.shield(waiting), max(left, 0))
        except TimeoutError:
            return await self._close(asker, question, QuestionState.EXPIRED)
        except asyncio.CancelledError:
            await asyncio.shield(self._close(asker, question, QuestionState.WITHDRAWN))
            raise
        if chosen is None:
            return await self._close(asker, question, QuestionState.WITHDRAWN)
        option = option_of_id(question.options, chosen)
        await self._tell(asker, f"{question.title}: {option.name if option else chosen}")
        return chosen

    async def _close(self, asker: Asker, question: Question, state: QuestionState) -> str | None:
        """End a question that nobody answered; return the answer somebody gave just now, if so."""
        default = question.default if state is QuestionState.EXPIRED else None

        def decide(tx: Transaction) -> Question:
            found = self._questions.find(tx, question.id)
            if found is None or found.state is not QuestionState.OPEN:
                return found or question
            closed = replace(found, state=state, option_id=default, answered_at=self._clock.now())
            self._questions.save(tx, closed)
            return closed

        closed = await write_for_sure(self._store, decide)
        if closed.state is QuestionState.ANSWERED:
            return closed.option_id
        await self._tell(asker, f"{question.title}: {_end(closed)}")
        return closed.option_id

    def _question(self, asker: Asker, request: PermissionRequest) -> Question:
        now = self._clock.now()
        fallback = allowing if asker.policy.on_timeout == "allow" else rejecting
        default = fallback(request.options)
        return Question(
            id=new_id(now),
            agent_id=asker.agent_id,
            agent_name=asker.agent_name,
            daemon_id=self._daemon_id,
            task_id=asker.task_id,
            title=request.title[:TITLE_LENGTH],
            tool_kind=request.tool_kind,
            paths=request.paths,
            options=request.options,
            default=default.id if default else None,
            asked_at=now,
            deadline=now + timedelta(seconds=asker.policy.question_seconds),
        )

    async def _tell(self, asker: Asker, text: str) -> None:
        voice = Voice(LogLevel.WARN, LogRole.SYSTEM, LogKind.QUESTION, asker.task_id)
        await self._log.add(asker.agent_id, voice, text)


def _nobody(_options: tuple[Option, ...]) -> Option | None:
    return None


def _end(question: Question) -> str:
    if question.state is QuestionState.WITHDRAWN:
        return "withdrawn, because the agent stopped"
    option = option_of_id(question.options, question.option_id or "")
    taken = option.name if option else "nothing"
    return f"nobody answered in time, so the default was taken: {taken}"
