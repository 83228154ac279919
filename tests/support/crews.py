"""A crew on a database of its own, with agents in memory, for what has to happen just so."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from quarterdeck.app import SystemClock
from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.projects import built_in_project
from quarterdeck.domain.redaction import Redactor
from quarterdeck.domain.roles import BUILT_IN_ROLE
from quarterdeck.domain.tasks import Task, TaskState
from quarterdeck.domain.workspaces import Workspace
from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.runtime import AgentSpec
from quarterdeck.ports.store import Store, Transaction
from quarterdeck.repositories.agent_log_files import AgentLogFiles
from quarterdeck.repositories.sql.agent_log import SqlAgentLogRepository
from quarterdeck.repositories.sql.agents import SqlAgentRepository
from quarterdeck.repositories.sql.questions import SqlQuestionRepository
from quarterdeck.repositories.sql.tasks import SqlTaskRepository
from quarterdeck.repositories.sql.tokens import SqlTokenRepository
from quarterdeck.services.crew.badges import Badges
from quarterdeck.services.crew.changes import Changes
from quarterdeck.services.crew.crew import Crew, CrewParts
from quarterdeck.services.crew.desk import QuestionDesk
from quarterdeck.services.crew.log_writer import LogLimits, LogWriter
from quarterdeck.services.crew.records import TaskRecords
from quarterdeck.services.crew.rows import FleetRows
from quarterdeck.testing.fake_runtime import FakeRuntime

T = TypeVar("T")

DAEMON = "this-daemon"
AMPLE = LogLimits(entries=10_000, size=2**30)


class Sluice:
    """Implements `Store`; writes fail, or are held back until it is opened, by their numbers."""

    def __init__(
        self,
        store: Store,
        *,
        failing: frozenset[int] = frozenset(),
        held: frozenset[int] = frozenset(),
    ) -> None:
        self.behind = store
        self.asked = 0
        self._failing = failing
        self._held = held
        self._opened = asyncio.Event()

    def open(self) -> None:
        self._opened.set()

    async def write(self, decide: Callable[[Transaction], T]) -> T:
        self.asked += 1
        if self.asked in self._failing:
            raise StorageUnavailable("the disk is full")
        if self.asked in self._held:
            await self._opened.wait()
        return await self.behind.write(decide)

    async def read(self, look: Callable[[Transaction], T]) -> T:
        return await self.behind.read(look)

    async def close(self) -> None:
        await self.behind.close()


def fleet_rows() -> FleetRows:
    return FleetRows(
        SqlAgentRepository(), SqlTaskRepository(), SqlAgentLogRepository(), SqlQuestionRepository()
    )


@dataclass
class CrewSite:
    """Where a crew works; `runtime` has its agents."""

    store: Store
    home: Path
    runtime: FakeRuntime = field(default_factory=FakeRuntime)
    rows: FleetRows = field(default_factory=fleet_rows)
    clock: SystemClock = field(default_factory=SystemClock)

    @asynccontextmanager
    async def crew(self) -> AsyncGenerator[Crew]:
        """Yield a crew that is at work, and stop it afterwards."""
        changes, archive = Changes(), AgentLogFiles(self.home)
        log = LogWriter(self.store, self.rows.log, archive, self.clock, AMPLE)
        desk = QuestionDesk(self.store, self.rows.questions, self.clock, log, changes, DAEMON)
        parts = CrewParts(
            store=self.store,
            clock=self.clock,
            rows=self.rows,
            log=log,
            desk=desk,
            changes=changes,
            records=TaskRecords(self.rows, self.clock, Redactor(())),
            runtimes={self.runtime.kind: self.runtime},
            badges=Badges(self.store, SqlTokenRepository(), self.clock),
        )
        crew = Crew(parts, first_pause=0.01)
        await crew.open()
        try:
            yield crew
        finally:
            await crew.close()

    async def new_agent(self, name: str, task: str) -> tuple[AgentSpec, Task]:
        """Write down an agent that is to start with a task, as creating it does."""
        now = self.clock.now()
        workspace = Workspace(kind="scratch", path=f"/nowhere/{name}")
        project = built_in_project(self.home, is_repository=False)
        agent = Agent(
            id=new_id(now),
            name=name,
            runtime=self.runtime.kind,
            project_id=project.id,
            project=project.name,
            role_id=BUILT_IN_ROLE.id,
            role=BUILT_IN_ROLE.name,
            status=AgentStatus.STARTING,
            node_id="this-node",
            daemon_id=DAEMON,
            workspace_id=new_id(now),
            created_at=now,
            updated_at=now,
            workspace=workspace,
        )
        first = Task(
            id=new_id(now),
            agent_id=agent.id,
            daemon_id=DAEMON,
            message=task,
            state=TaskState.QUEUED,
            created_at=now,
        )

        def add(tx: Transaction) -> None:
            self.rows.agents.add(tx, agent)
            self.rows.tasks.add(tx, first)

        await self.store.write(add)
        return AgentSpec(agent.id, name, workspace, project, BUILT_IN_ROLE), first

    async def task(self, task_id: str) -> Task:
        found = await self.store.read(lambda tx: self.rows.tasks.find(tx, task_id))
        assert found is not None
        return found

    async def status(self, agent_id: str) -> AgentStatus:
        found = await self.store.read(lambda tx: self.rows.agents.find(tx, agent_id))
        assert found is not None
        return found.status
