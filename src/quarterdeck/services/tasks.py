"""Tasks: given to agents, canceled, and what became of them."""

from dataclasses import replace
from datetime import datetime

from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import (
    CancelAgentTaskResponse,
    ShowAgentTaskHistoryResponse,
    StartAgentTaskResponse,
    TaskDetail,
    TaskInfo,
)
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.tasks import OPEN, Task, TaskState, Usage, checked_task
from quarterdeck.errors import AgentBusy, AgentNotOnline, NoTaskRunning
from quarterdeck.ports.store import Transaction
from quarterdeck.services.elsewhere import Elsewhere
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation


class TaskService:
    """What agents are given to do."""

    def __init__(self, fleet: Fleet, elsewhere: Elsewhere) -> None:
        """What concerns agents of another process is asked for `elsewhere`."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._elsewhere = elsewhere

    @operation("task.start", Effect.WRITE)
    async def start(
        self, op: Operation, name: str, text: str, *, queue: bool = False
    ) -> StartAgentTaskResponse:
        """Give an idle agent a task; with `queue`, a busy one gets it after the one it has."""
        checked_task(text, "task_description")
        agent = await self._fleet.find(name)
        if not self._fleet.is_ours(agent):
            asked = {"name": name, "text": text, "queue": queue}
            return await self._elsewhere.ask(agent, "start_task", asked, StartAgentTaskResponse)
        answer = await op.commit(lambda tx: self._give(tx, name, text, queue=queue))
        self._fleet.crew.wake(agent.id)
        self._fleet.crew.changes.tell()
        return answer

    @operation("task.cancel", Effect.DESTROY, long=True)
    async def cancel(self, op: Operation, name: str) -> CancelAgentTaskResponse:
        """Interrupt what an agent does, and see whether it stops."""
        agent = await self._fleet.find(name)
        if not self._fleet.is_ours(agent):
            asked = {"name": name}
            return await self._elsewhere.ask(agent, "cancel", asked, CancelAgentTaskResponse)
        task = await op.write(lambda tx: self._mark_canceling(tx, name))
        self._fleet.crew.changes.tell()
        stopped = await self._fleet.crew.interrupt(agent.id, task.id if task else None)
        message = f"Interrupt signal sent to agent {agent.name!r}"
        if not stopped:
            message += "; it has not stopped yet, and restart_agent would end it"
        return CancelAgentTaskResponse(
            agent_name=agent.name, message=message, interrupt_sent=True, stopped=stopped
        )

    @operation("task.history", Effect.READ)
    async def history(
        self, op: Operation, name: str, *, page: int = 1, page_size: int = 20
    ) -> ShowAgentTaskHistoryResponse:
        """Return the tasks that an agent was given, newest first, a page at a time."""

        def look(tx: Transaction) -> ShowAgentTaskHistoryResponse:
            agent, rows = self._fleet.find_in(tx, name, or_deleted=True), self._fleet.rows
            asking = {q.task_id for q in rows.questions.open(tx) if q.agent_id == agent.id}
            offset = (page - 1) * page_size
            tasks = rows.tasks.page(tx, agent.id, offset=offset, limit=page_size)
            total = rows.tasks.count(tx, agent.id)
            return ShowAgentTaskHistoryResponse(
                agent_name=agent.name,
                tasks=[_detail(task, is_asking=task.id in asking) for task in tasks],
                total_count=total,
                page=page,
                page_size=page_size,
                has_next_page=total > page * page_size,
                has_previous_page=page > 1,
            )

        return await op.read(look)

    def _give(
        self, tx: Transaction, name: str, text: str, *, queue: bool
    ) -> StartAgentTaskResponse:
        agent, rows, now = self._seen(tx, name), self._fleet.rows, self._now()
        if not agent.is_online:
            raise AgentNotOnline(agent.name, agent.status.value, agent.reason)
        if agent.status is AgentStatus.BUSY and not queue:
            raise AgentBusy(agent.name, agent.last_task)
        task = Task(
            id=new_id(now),
            agent_id=agent.id,
            daemon_id=agent.daemon_id,
            message=text,
            state=TaskState.QUEUED,
            created_at=now,
        )
        rows.tasks.add(tx, task)
        busy = replace(agent, status=AgentStatus.BUSY, last_task=text, updated_at=now)
        rows.agents.save(tx, busy)
        is_behind = agent.status is AgentStatus.BUSY
        verb = "queued for" if is_behind else "assigned to"
        return StartAgentTaskResponse(
            agent_name=agent.name,
            task=TaskInfo(
                message=text,
                created_at=now,
                task_id=task.id,
                state=TaskState.QUEUED if is_behind else TaskState.RUNNING,
            ),
            message=f"Task {verb} agent {agent.name!r}",
        )

    def _mark_canceling(self, tx: Transaction, name: str) -> Task | None:
        """Return the task that is to stop, which may not have begun yet."""
        agent = self._seen(tx, name)
        if agent.status is not AgentStatus.BUSY:
            raise NoTaskRunning(agent.name, agent.status.value)
        canceling = replace(agent, status=AgentStatus.CANCELING, updated_at=self._now())
        self._fleet.rows.agents.save(tx, canceling)
        return next(iter(self._fleet.rows.tasks.open_of(tx, agent.id)), None)

    def _seen(self, tx: Transaction, name: str) -> Agent:
        """Return an agent as it stands: one whose process died is not at work any more."""
        return self._fleet.seen(tx, self._fleet.find_in(tx, name), None).agent

    def _now(self) -> datetime:
        return self.operations.clock.now()


def _detail(task: Task, *, is_asking: bool) -> TaskDetail:
    return TaskDetail(
        message=task.message,
        uri=task.uri,
        needs_user_attention=is_asking and task.state in OPEN,
        created_at=task.created_at,
        task_id=task.id,
        state=task.state,
        started_at=task.started_at,
        ended_at=task.ended_at,
        result=task.result,
        verdict=task.verdict,
        branch=task.branch,
        commits=list(task.commits) or None,
        files=list(task.files) or None,
        usage=task.usage if task.usage != Usage() else None,
    )
