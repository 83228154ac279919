"""Waiting for agents, within the time that a call may take."""

from collections.abc import Sequence
from typing import Literal

from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import AgentState, WaitForAgentResponse
from quarterdeck.domain.questions import Question
from quarterdeck.ports.store import Transaction
from quarterdeck.services.agent_views import open_question
from quarterdeck.services.asking import Asking, current_asking
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation
from quarterdeck.services.questions import QuestionService
from quarterdeck.services.watch import Seen, Watch, line_of

Until = Literal["idle", "changed", "question"]

# Not at rest: something will happen by itself.
_UNSETTLED = frozenset(
    {
        AgentStatus.PENDING,
        AgentStatus.STARTING,
        AgentStatus.BUSY,
        AgentStatus.CANCELING,
        AgentStatus.STOPPING,
        AgentStatus.DELETING,
    }
)


class WaitService:
    """Waits until agents are done, change, or ask."""

    def __init__(self, fleet: Fleet, questions: QuestionService, *, asks_clients: bool) -> None:
        """With `asks_clients`, who waits is asked what agents ask, where that can be done."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._questions = questions
        self._asks_clients = asks_clients

    @operation("agent.wait", Effect.READ)
    async def wait(
        self,
        op: Operation,
        names: Sequence[str],
        *,
        until: Until = "idle",
        timeout_seconds: float = 45,
    ) -> WaitForAgentResponse:
        """Return once all agents are at rest, one has changed, or one asks; or when time is up."""
        asking = current_asking() if self._asks_clients else None
        if asking is not None and (chosen := asking.brought) is not None:
            await self._questions.answer(chosen.question_id, option_id=chosen.option_id)
        async with self._fleet.crew.changes.watched() as changed:

            async def look() -> list[Seen]:
                return await op.read(lambda tx: self._look(tx, names))

            waited = asking.waited if asking is not None else 0
            watch = Watch(look, changed, timeout_seconds, waited=waited)
            in_time = await self._comes_true(watch, until, asking)
        return _answer(watch.states, until, timed_out=not in_time)

    async def _comes_true(self, watch: Watch, until: Until, asking: Asking | None) -> bool:
        """Return whether what is waited for happened, before time was up."""
        first = await watch.look()
        is_answered = asking is not None and asking.brought is not None
        while until == "idle" or not is_answered:
            if (question := watch.question) is not None:
                if asking is None:
                    return True
                if not await self._is_settled(watch, asking, question):
                    return watch.left > 0
                is_answered = True
            elif _is_reached(until, first, watch.states):
                return True
            elif watch.left <= 0:
                return False
            else:
                await watch.pause()
            await watch.look()
        return True

    async def _is_settled(self, watch: Watch, asking: Asking, question: Question) -> bool:
        """Ask the person, and return whether the question is closed, by them or by others."""
        option_id = await watch.ask(asking, question)
        if option_id is None:
            return not watch.is_open(question)
        await self._questions.answer(question.id, option_id=option_id)
        return True

    def _look(self, tx: Transaction, names: Sequence[str]) -> list[Seen]:
        rows = self._fleet.rows
        waiting = {question.agent_id: question for question in reversed(rows.questions.open(tx))}
        agents = [self._fleet.find_in(tx, name) for name in dict.fromkeys(names)]
        return [self._seen(tx, agent, waiting.get(agent.id)) for agent in agents]

    def _seen(self, tx: Transaction, agent: Agent, question: Question | None) -> Seen:
        sight = self._fleet.seen(tx, agent, question)
        newest = self._fleet.rows.tasks.newest_of(tx, agent.id)
        state = AgentState(
            name=agent.name,
            status=sight.agent.status,
            last_task=agent.last_task,
            task_state=newest.state if newest else None,
            last_report=agent.last_report,
            waiting_for=open_question(sight.question),
            reason=sight.agent.reason,
        )
        return Seen(state, sight.question)


def _is_reached(until: Until, first: list[AgentState], now: list[AgentState]) -> bool:
    if until == "changed":
        return now != first
    return until == "idle" and not any(state.status in _UNSETTLED for state in now)


def _answer(states: list[AgentState], until: Until, *, timed_out: bool) -> WaitForAgentResponse:
    asking = ", ".join(state.name for state in states if state.waiting_for)
    if asking and timed_out:
        message = f"{asking} asked what nobody answered in time; question_list shows it"
    elif asking:
        message = f"{asking} asked a question; question_list shows it"
    elif timed_out:
        message = f"Time was up before this came true: {until}; call again to go on waiting"
    else:
        message = line_of(states)
    return WaitForAgentResponse(agents=states, timed_out=timed_out, message=message)
