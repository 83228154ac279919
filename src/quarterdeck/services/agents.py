"""Agents: created, looked at, started again, deleted."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from quarterdeck.domain.agents import (
    RELEASED,
    Agent,
    AgentStatus,
    checked_new_name,
)
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import (
    CreateAgentResponse,
    DeleteAgentResponse,
    ListAgentsResponse,
    RestartAgentResponse,
    ShowAgentResponse,
)
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.roles import DEFAULT_ROLE
from quarterdeck.domain.tasks import Task, TaskState, checked_task
from quarterdeck.domain.workspaces import Saved
from quarterdeck.errors import AgentExists, AgentNotFound, QuarterdeckError
from quarterdeck.ports.runtime import AgentSpec
from quarterdeck.ports.store import Transaction
from quarterdeck.services.agent_views import Metadata, Sight, detail_of, row_of
from quarterdeck.services.elsewhere import Elsewhere
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation

# The deletion goes on beyond this; who asked for it need not wait for a large workspace.
DELETE_SECONDS = 20.0
LOCAL = "local"
# Behind the task that an agent is at, as far as anybody looks.
MOST_QUEUED = 1000


class AgentService:
    """The agents of the fleet."""

    def __init__(self, fleet: Fleet, elsewhere: Elsewhere) -> None:
        """What concerns agents of another process is asked for `elsewhere`."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._elsewhere = elsewhere
        self._removals: dict[str, asyncio.Task[Saved | None]] = {}

    @operation("agent.create", Effect.WRITE, long=True)
    async def create(
        self, op: Operation, name: str, project: str, task: str, *, role: str = DEFAULT_ROLE
    ) -> CreateAgentResponse:
        """Create an agent and give it its first task, which it gets once it is ready."""
        checked_new_name(name)
        checked_task(task, "task")
        found = await self._fleet.projects.find(project)
        choice = await self._fleet.projects.find_role(found, role)
        await self._refuse_taken(name)
        now, runtime = self.operations.clock.now(), self._fleet.runtimes[LOCAL]
        agent_id = new_id(now)
        workspace = await runtime.plan(agent_id, name, found, choice.role)
        agent = Agent(
            id=agent_id,
            name=name,
            runtime=runtime.kind,
            project_id=found.id,
            project=found.name,
            role_id=choice.role.id,
            role=choice.role.name,
            status=AgentStatus.STARTING,
            node_id=self._fleet.here.node_id,
            daemon_id=self._fleet.here.daemon_id,
            workspace_id=agent_id,
            workspace=workspace,
            last_task=task,
            created_at=now,
            updated_at=now,
        )
        # Once this is written, a start finishes what a crash cuts short.
        await op.write(lambda tx: self._add(tx, agent, task))
        spec = AgentSpec(agent_id, name, workspace, found, choice.role)
        self._fleet.crew.launch(spec, runtime, is_new=True)
        message = f"Agent {name!r} created successfully"
        return CreateAgentResponse(
            agent=detail_of(Sight(agent)),
            message=f"{message}; {choice.remark}" if choice.remark else message,
        )

    @operation("agent.list", Effect.READ)
    async def list(
        self,
        op: Operation,
        *,
        status: AgentStatus | None = None,
        project: str | None = None,
        include_metadata: bool = True,
    ) -> ListAgentsResponse:
        """Return agents, newest first; of a project that is not there, none."""
        sights = await op.read(lambda tx: self._look(tx, status, project))
        if include_metadata:
            sights = await self._with_metadata(sights)
        rows = [row_of(sight) for sight in sights]
        return ListAgentsResponse(agents=rows, total_count=len(rows))

    @operation("agent.show", Effect.READ)
    async def show(
        self, op: Operation, name: str, *, include_metadata: bool = True
    ) -> ShowAgentResponse:
        """Return one agent with all that is known of it."""

        def look(tx: Transaction) -> Sight:
            agent = self._fleet.find_in(tx, name)
            questions = self._fleet.rows.questions.open(tx)
            mine = [each for each in questions if each.agent_id == agent.id]
            return self._fleet.seen(tx, agent, next(iter(mine), None))

        sight = await op.read(look)
        if include_metadata:
            (sight,) = await self._with_metadata([sight])
        return ShowAgentResponse(agent=detail_of(sight))

    @operation("agent.restart", Effect.WRITE, long=True)
    async def restart(self, op: Operation, name: str) -> RestartAgentResponse:
        """Start an agent again, whatever state it is in; it goes on with what was interrupted."""
        agent = await self._fleet.find(name)
        if not self._fleet.is_ours(agent):
            asked = {"name": name}
            return await self._elsewhere.ask(agent, "restart", asked, RestartAgentResponse)
        async with self._fleet.crew.alone_with(agent.id):
            spec, runtime = await self._fleet.runtime_of(agent)
            await self._fleet.crew.put_ashore(agent.id)
            continued = await op.write(lambda tx: self._begin_again(tx, agent))
            self._fleet.crew.launch(spec, runtime, is_new=spec.conversation is None)
        more = f"; it goes on with: {_short(continued.message)}" if continued else ""
        return RestartAgentResponse(
            agent_name=agent.name,
            workspace_id=agent.workspace_id,
            status=AgentStatus.STARTING,
            message=f"Agent {agent.name!r} restart initiated{more}",
        )

    @operation("agent.delete", Effect.DESTROY, long=True)
    async def delete(self, op: Operation, name: str) -> DeleteAgentResponse:
        """Delete an agent in any state; its name is free at once, and its work is saved first."""
        agent = await self._fleet.find(name)
        if not self._fleet.is_ours(agent):
            asked = {"name": name}
            return await self._elsewhere.ask(agent, "delete", asked, DeleteAgentResponse)
        await op.write(lambda tx: self._release(tx, agent))
        removal = self.removal(agent)
        done, _ = await asyncio.wait({removal}, timeout=DELETE_SECONDS)
        return _deleted(agent, removal.result() if done else None, is_done=bool(done))

    def removal(self, agent: Agent) -> "asyncio.Task[Saved | None]":
        """Remove an agent that was released; goes on when nobody waits for it.

        Who asks again meanwhile waits for the same.
        """
        removal = self._removals.get(agent.id)
        if removal is None:
            removal = self._removals[agent.id] = self._fleet.crew.spawn(self._remove(agent))
            removal.add_done_callback(lambda _: self._removals.pop(agent.id, None))
        return removal

    async def _remove(self, agent: Agent) -> Saved | None:
        try:
            async with self._fleet.crew.alone_with(agent.id):
                saved = await self._fleet.crew.remove(*self._fleet.berth_of(agent))
        except Exception as error:
            # Only our own words are shown; the log has all others.
            known = isinstance(error, QuarterdeckError)
            why = error.message if known else "Quarterdeck failed; its log has the reason"
            why = self._fleet.crew.shown(why)
            await self._note(agent, AgentStatus.DELETING, f"it could not be deleted: {why}")
            raise
        kept = f"its work is kept in {saved.branch or saved.folder!r}" if saved else None
        await self._note(agent, AgentStatus.DELETED, kept)
        return saved

    async def _note(self, agent: Agent, status: AgentStatus, reason: str | None) -> None:
        now = self.operations.clock.now()
        deleted_at = now if status is AgentStatus.DELETED else None

        def decide(tx: Transaction) -> None:
            found = self._fleet.rows.agents.find(tx, agent.id)
            if found is not None:
                noted = replace(
                    found, status=status, reason=reason, deleted_at=deleted_at, updated_at=now
                )
                self._fleet.rows.agents.save(tx, noted)

        await self.operations.store.write(decide)
        self._fleet.crew.changes.tell()

    async def _refuse_taken(self, name: str) -> None:
        def look(tx: Transaction) -> None:
            self._refuse_taken_in(tx, name)

        await self.operations.store.read(look)

    def _refuse_taken_in(self, tx: Transaction, name: str) -> None:
        holder = self._fleet.rows.agents.find_named(tx, name)
        if holder is not None and holder.status not in RELEASED:
            raise AgentExists(holder.name)

    def _add(self, tx: Transaction, agent: Agent, task: str) -> None:
        self._refuse_taken_in(tx, agent.name)
        self._fleet.rows.agents.add(tx, agent)
        first = Task(
            id=new_id(agent.created_at),
            agent_id=agent.id,
            daemon_id=agent.daemon_id,
            message=task,
            state=TaskState.QUEUED,
            created_at=agent.created_at,
        )
        self._fleet.rows.tasks.add(tx, first)

    def _look(
        self, tx: Transaction, status: AgentStatus | None, project: str | None
    ) -> Sequence[Sight]:
        rows = self._fleet.rows
        # By what it stands for now, not by what is stored: a daemon may have gone since.
        stored = rows.agents.list(tx, status if status is AgentStatus.DELETED else None)
        waiting = {question.agent_id: question for question in reversed(rows.questions.open(tx))}
        sights = [self._fleet.seen(tx, agent, waiting.get(agent.id)) for agent in stored]
        return [
            sight
            for sight in sights
            if (status is None or sight.agent.status is status)
            and (project is None or sight.agent.project.casefold() == project.casefold())
        ]

    async def _with_metadata(self, sights: Sequence[Sight]) -> Sequence[Sight]:
        """Ask all runtimes at once; who is not running here is not asked."""
        found = await asyncio.gather(*(self._metadata_of(sight.agent) for sight in sights))
        return [
            replace(sight, metadata=metadata) for sight, metadata in zip(sights, found, strict=True)
        ]

    async def _metadata_of(self, agent: Agent) -> Metadata | None:
        member = self._fleet.crew.member(agent.id)
        if member is None or not member.runtime.is_running(agent.id):
            return None
        return await member.runtime.metadata(member.spec)

    def _begin_again(self, tx: Transaction, agent: Agent) -> Task | None:
        """Mark an agent as starting; return the interrupted task that it goes on with."""
        rows, now = self._fleet.rows, self.operations.clock.now()
        found = rows.agents.find(tx, agent.id)
        if found is None or found.status in RELEASED:
            raise AgentNotFound(agent.name)
        continued = self._task_to_continue(tx, found)
        starting = replace(
            found,
            status=AgentStatus.STARTING,
            reason=None,
            updated_at=now,
            daemon_id=self._fleet.here.daemon_id,
        )
        rows.agents.save(tx, starting)
        return continued

    def _task_to_continue(self, tx: Transaction, agent: Agent) -> Task | None:
        """Queue again what was cut off; a task that runs now ends with the process it runs in."""
        rows, now = self._fleet.rows, self.operations.clock.now()
        newest = rows.tasks.page(tx, agent.id, offset=0, limit=MOST_QUEUED)
        last = next((task for task in newest if task.state is not TaskState.QUEUED), None)
        if last is None:
            return None
        is_cut_off = agent.daemon_id != self._fleet.here.daemon_id
        if last.state is TaskState.RUNNING and not is_cut_off:
            result = "the agent was restarted"
            canceled = replace(last, state=TaskState.CANCELED, result=result, ended_at=now)
            rows.tasks.save(tx, canceled)
            return None
        if last.state not in {TaskState.RUNNING, TaskState.INTERRUPTED}:
            return None
        continued = replace(last, state=TaskState.QUEUED, ended_at=None, result=None)
        rows.tasks.save(tx, continued)
        return continued

    def _release(self, tx: Transaction, agent: Agent) -> None:
        rows, now = self._fleet.rows, self.operations.clock.now()
        found = rows.agents.find(tx, agent.id)
        if found is None or found.status is AgentStatus.DELETED:
            raise AgentNotFound(agent.name)
        released = replace(
            found,
            status=AgentStatus.DELETING,
            reason=None,
            updated_at=now,
            daemon_id=self._fleet.here.daemon_id,
        )
        rows.agents.save(tx, released)
        rows.end_open_tasks(tx, agent.id, TaskState.CANCELED, "the agent was deleted", now)


def _deleted(agent: Agent, saved: Saved | None, *, is_done: bool) -> DeleteAgentResponse:
    message = f"Agent {agent.name!r} deleted successfully"
    if not is_done:
        message = (
            f"Agent {agent.name!r} is being deleted; work that exists nowhere else is saved first,"
            " and list_agents with status_filter 'deleted' will say where"
        )
    elif saved and saved.branch:
        message += f"; its unsaved work is kept on the branch {saved.branch!r}"
    elif saved and saved.folder:
        message += f"; its files are kept in {saved.folder!r}"
    return DeleteAgentResponse(
        agent_name=agent.name,
        workspace_id=agent.workspace_id,
        message=message,
        status=AgentStatus.DELETED if is_done else AgentStatus.DELETING,
        saved_branch=saved.branch if saved else None,
        saved_folder=saved.folder if saved else None,
    )


def _short(text: str, length: int = 100) -> str:
    line = text.strip().splitlines()[0]
    return line if len(line) <= length else f"{line[: length - 1]}…"
