"""What a start does for agents whose process died: nothing of them is lost, none is hidden."""

import logging
from dataclasses import replace

from quarterdeck.domain.agents import LIVING, Agent, AgentStatus
from quarterdeck.domain.questions import QuestionState
from quarterdeck.domain.tasks import TaskState
from quarterdeck.errors import QuarterdeckError
from quarterdeck.ports.store import Transaction
from quarterdeck.services.agents import AgentService
from quarterdeck.services.crew.records import interrupted
from quarterdeck.services.fleet import Fleet

logger = logging.getLogger(__name__)

_CUT_SHORT = frozenset({AgentStatus.PENDING, AgentStatus.STARTING})
_REASON = "Quarterdeck ended unexpectedly"


class Recovery:
    """Looks after agents of this home that no process runs any more."""

    def __init__(self, fleet: Fleet, agents: AgentService) -> None:
        """Deletions are finished by `agents`."""
        self._fleet = fleet
        self._agents = agents
        self._store = fleet.operations.store

    async def run(self) -> None:
        """Finish what was being created or deleted; say of all others that they were cut off."""
        orphans = await self._store.write(self._take_over)
        for agent in orphans:
            if agent.status is AgentStatus.DELETING:
                self._agents.removal(agent)
            elif agent.status is AgentStatus.STARTING:
                await self._start(agent)
        if orphans:
            logger.warning("Found %d agents that a crash had cut off", len(orphans))

    def _take_over(self, tx: Transaction) -> list[Agent]:
        rows, here = self._fleet.rows, self._fleet.here
        mine = [agent for agent in rows.agents.list(tx) if agent.node_id == here.node_id]
        orphans = [agent for agent in mine if not here.presence.is_alive(agent.daemon_id)]
        self._expire_questions(tx)
        return [self._claim(tx, agent) for agent in orphans]

    def _claim(self, tx: Transaction, agent: Agent) -> Agent:
        rows, now = self._fleet.rows, self._fleet.operations.clock.now()
        status, reason = agent.status, agent.reason
        was_at_work = False
        for task in rows.tasks.open_of(tx, agent.id):
            if task.state is TaskState.RUNNING:
                rows.tasks.save(tx, interrupted(task, now, _REASON))
                was_at_work = True
        if agent.status in _CUT_SHORT:
            status = AgentStatus.STARTING
        elif agent.status in LIVING:
            status = AgentStatus.FAILED if was_at_work else AgentStatus.STOPPED
            reason = f"{_REASON}; restart_agent brings it back"
        claimed = replace(agent, status=status, reason=reason, daemon_id=self._fleet.here.daemon_id)
        rows.agents.save(tx, claimed)
        return claimed

    def _expire_questions(self, tx: Transaction) -> None:
        rows, now = self._fleet.rows, self._fleet.operations.clock.now()
        for question in rows.questions.open(tx):
            agent = rows.agents.find(tx, question.agent_id)
            is_ours = agent is None or agent.node_id == self._fleet.here.node_id
            if is_ours and not self._fleet.here.presence.is_alive(question.daemon_id):
                expired = replace(question, state=QuestionState.EXPIRED, answered_at=now)
                rows.questions.save(tx, expired)

    async def _start(self, agent: Agent) -> None:
        try:
            spec, runtime = await self._fleet.runtime_of(agent)
        except QuarterdeckError as error:
            reason = error.message
            turn, now = self._fleet.rows.turn, self._fleet.operations.clock.now()
            await self._store.write(
                lambda tx: turn(tx, agent.id, AgentStatus.FAILED, now, reason=reason)
            )
        else:
            self._fleet.crew.launch(spec, runtime, is_new=spec.conversation is None)
