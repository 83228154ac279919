"""Waiting for agents, within the time that a call may take."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import AgentState, WaitForAgentResponse
from quarterdeck.domain.questions import Question
from quarterdeck.ports.store import Transaction
from quarterdeck.services.agent_views import open_question
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation
from quarterdeck.services.progress import report_progress

Until = Literal["idle", "changed", "question"]

# Agents of other processes wake nobody here, so they are looked at this often.
LOOK_SECONDS = 1.0
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

    def __init__(self, fleet: Fleet) -> None:
        """Changes of this process's agents wake it at once."""
        self.operations = fleet.operations
        self._fleet = fleet

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
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + timeout_seconds
        async with self._fleet.crew.changes.watched() as changed:
            first = states = await op.read(lambda tx: self._look(tx, names))
            while not _is_reached(until, first, states):
                left = ends_at - loop.time()
                if left <= 0:
                    return _answer(states, until, timed_out=True)
                await first_of(changed, min(left, LOOK_SECONDS))
                changed.clear()
                states = await op.read(lambda tx: self._look(tx, names))
                await report_progress(timeout_seconds - left, timeout_seconds, _line(states))
            return _answer(states, until, timed_out=False)

    def _look(self, tx: Transaction, names: Sequence[str]) -> list[AgentState]:
        rows = self._fleet.rows
        waiting = {question.agent_id: question for question in reversed(rows.questions.open(tx))}
        agents = [self._fleet.find_in(tx, name) for name in dict.fromkeys(names)]
        return [self._state(tx, agent, waiting.get(agent.id)) for agent in agents]

    def _state(self, tx: Transaction, agent: Agent, question: Question | None) -> AgentState:
        sight = self._fleet.seen(tx, agent, question)
        newest = self._fleet.rows.tasks.newest_of(tx, agent.id)
        return AgentState(
            name=agent.name,
            status=sight.agent.status,
            last_task=agent.last_task,
            task_state=newest.state if newest else None,
            last_report=agent.last_report,
            waiting_for=open_question(sight.question),
            reason=sight.agent.reason,
        )


def _is_reached(until: Until, first: list[AgentState], now: list[AgentState]) -> bool:
    if any(state.waiting_for for state in now):
        return True
    if until == "changed":
        return now != first
    return until == "idle" and not any(state.status in _UNSETTLED for state in now)


def _answer(states: list[AgentState], until: Until, *, timed_out: bool) -> WaitForAgentResponse:
    asking = [state.name for state in states if state.waiting_for]
    if asking:
        message = f"{', '.join(asking)} asked a question; question_list shows it"
    elif timed_out:
        message = f"Time was up before this came true: {until}; call again to go on waiting"
    else:
        message = _line(states)
    return WaitForAgentResponse(agents=states, timed_out=timed_out, message=message)


def _line(states: list[AgentState]) -> str:
    return ", ".join(f"{state.name} is {state.status.value}" for state in states)


async def first_of(changed: asyncio.Event, seconds: float) -> None:
    """Wait for a change, or for the time to pass."""
    with suppress(TimeoutError):
        await asyncio.wait_for(changed.wait(), seconds)
