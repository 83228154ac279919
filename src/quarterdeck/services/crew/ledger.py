"""What is written of an agent as it comes up, takes a task, fails or is stopped."""

from dataclasses import dataclass, replace

from quarterdeck.domain.agents import AgentStatus
from quarterdeck.domain.tasks import Task, TaskState, Usage
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.store import Transaction
from quarterdeck.services.crew.records import interrupted
from quarterdeck.services.crew.rows import FleetRows

STOPPED = "Quarterdeck was stopped"


@dataclass(frozen=True, slots=True)
class Ledger:
    """Decisions on the rows of one agent; each is made in one transaction."""

    rows: FleetRows
    clock: Clock

    def up(self, tx: Transaction, agent_id: str, conversation: str | None) -> Usage:
        """Write that an agent is ready; return what it has used so far."""
        has_tasks = bool(self.rows.tasks.open_of(tx, agent_id))
        status = AgentStatus.BUSY if has_tasks else AgentStatus.IDLE
        agent = self.rows.turn(tx, agent_id, status, self.clock.now())
        if agent is None:
            return Usage()
        self.rows.agents.save(tx, replace(agent, conversation=conversation))
        return agent.usage

    def next_task(self, tx: Transaction, agent_id: str) -> Task | None:
        """Begin the task that has waited longest; without one, the agent is idle."""
        now, waiting = self.clock.now(), self.rows.tasks.open_of(tx, agent_id)
        status = AgentStatus.BUSY if waiting else AgentStatus.IDLE
        self.rows.turn(tx, agent_id, status, now)
        if not waiting:
            return None
        begun = replace(waiting[0], state=TaskState.RUNNING, started_at=now)
        self.rows.tasks.save(tx, begun)
        return waiting[0]

    def failed(self, tx: Transaction, agent_id: str, reason: str) -> None:
        """Write that an agent is given up, with all it had to do."""
        now = self.clock.now()
        self.rows.turn(tx, agent_id, AgentStatus.FAILED, now, reason=reason)
        self.rows.end_open_tasks(tx, agent_id, TaskState.FAILED, reason, now)

    def stopped(self, tx: Transaction, agent_id: str) -> None:
        """Write that an agent ended with this process; one that had failed stays so."""
        now, agent = self.clock.now(), self.rows.agents.find(tx, agent_id)
        if agent is None or agent.status is AgentStatus.FAILED:
            return
        for task in self.rows.tasks.open_of(tx, agent_id):
            if task.state is TaskState.RUNNING:
                self.rows.tasks.save(tx, interrupted(task, now, STOPPED))
        self.rows.turn(tx, agent_id, AgentStatus.STOPPED, now, reason=STOPPED)
