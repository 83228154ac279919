"""The repositories of the fleet, together, because most decisions touch several."""

from dataclasses import dataclass, replace
from datetime import datetime

from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.tasks import Task, TaskState
from quarterdeck.ports.fleet import (
    AgentLogRepository,
    AgentRepository,
    QuestionRepository,
    TaskRepository,
)
from quarterdeck.ports.store import Transaction


@dataclass(frozen=True, slots=True)
class FleetRows:
    """Where agents and all that belongs to them are kept."""

    agents: AgentRepository
    tasks: TaskRepository
    log: AgentLogRepository
    questions: QuestionRepository

    def turn(
        self,
        tx: Transaction,
        agent_id: str,
        status: AgentStatus,
        now: datetime,
        *,
        reason: str | None = None,
    ) -> Agent | None:
        """Give an agent another status, unless it is being deleted; return it as it is then."""
        agent = self.agents.find(tx, agent_id)
        if agent is None or agent.status in {AgentStatus.DELETING, AgentStatus.DELETED}:
            return None
        turned = replace(agent, status=status, reason=reason, updated_at=now)
        self.agents.save(tx, turned)
        return turned

    def end_open_tasks(
        self, tx: Transaction, agent_id: str, state: TaskState, result: str, now: datetime
    ) -> list[Task]:
        """End what an agent still has to do; return what that was."""
        ended = [
            replace(task, state=state, result=result, ended_at=now)
            for task in self.tasks.open_of(tx, agent_id)
        ]
        for task in ended:
            self.tasks.save(tx, task)
        return ended
