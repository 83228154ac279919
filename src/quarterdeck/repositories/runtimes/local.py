"""Agents on this machine: each a process that speaks the Agent Client Protocol."""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from quarterdeck.clients.processes.child import CannotStart, Child
from quarterdeck.clients.processes.keeper import Keeper
from quarterdeck.clients.processes.leftovers import owner_of, sweep
from quarterdeck.domain.definitions import BUILT_IN
from quarterdeck.domain.metadata import MetadataField
from quarterdeck.domain.projects import Project
from quarterdeck.domain.roles import Role
from quarterdeck.domain.tasks import TurnEnd
from quarterdeck.domain.workspaces import Diff, Merged, Pushed, Saved, Workspace
from quarterdeck.errors import AgentFailed, Unavailable
from quarterdeck.ports.runtime import AgentSpec, Berth, Report, RuntimeListener, Started
from quarterdeck.repositories.demo import ensure_demo
from quarterdeck.repositories.runtimes.agent_environment import AgentEnvironment
from quarterdeck.repositories.runtimes.local_workspaces import LocalWorkspaces
from quarterdeck.repositories.runtimes.metadata import MetadataCollector
from quarterdeck.repositories.runtimes.patience import Patience
from quarterdeck.repositories.runtimes.stderr_log import StderrLog
from quarterdeck.repositories.runtimes.workspaces import Workspaces

if TYPE_CHECKING:
    from quarterdeck.repositories.runtimes.local_agent import LocalAgent

TRIM_SECONDS = 5.0
LOADINGS = 5

CommandOf = Callable[[Role], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose processes they are.

    Args:
        node: this home on this machine.
        daemon: which of the node's processes runs them; no other has this id.
        is_alive: says whether another of them is; what that one runs is left alone.
    """

    node: str
    daemon: str = ""
    is_alive: Callable[[str], bool] = lambda _daemon: False


class LocalRuntime:
    """Runs agents as processes of one home.

    Args:
        home: where workspaces, logs and records of processes are.
        owner: whose processes they are.
        environment: the daemon's own, of which agents get a few named variables.
        command_of: finds a role's program, or fails with what to do.
    """

    def __init__(
        self,
        home: Path,
        *,
        owner: Owner,
        environment: Mapping[str, str],
        command_of: CommandOf,
        patience: Patience | None = None,
    ) -> None:
        self._home = home
        self._owner = owner
        self._command_of = command_of
        self._patience = patience or Patience()
        self._environment = AgentEnvironment(home, environment)
        self._workspaces = LocalWorkspaces(
            Workspaces(home), taskfile=environment.get("QUARTERDECK_TASKFILE")
        )
        self._metadata = MetadataCollector()
        self._keeper = Keeper(self._records, node=owner_of(owner.node, owner.daemon))
        self._listener: RuntimeListener | None = None
        self._agents: dict[str, LocalAgent] = {}
        # Each is there as long as somebody holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._trimming: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def kind(self) -> str:
        return "local"

    @property
    def _records(self) -> Path:
        return self._home / "run" / "agents"

    async def open(self, listener: RuntimeListener) -> None:
        self._listener = listener
        await anyio.to_thread.run_sync(sweep, self._records, self._owner.node, self._owner.is_alive)
        self._trimming = asyncio.create_task(self._keep_trimming())

    async def close(self) -> None:
        self._is_closed = True
        if self._trimming:
            self._trimming.cancel()
            with suppress(asyncio.CancelledError):
                await self._trimming
        await asyncio.gather(*map(self.stop, list(self._agents)))
        await self._metadata.close()
        await self._keeper.close()

    async def plan(self, agent_id: str, name: str, project: Project, role: Role) -> Workspace:
        await anyio.to_thread.run_sync(self._command_of, role)
        if project.seeded_by == BUILT_IN:
            await anyio.to_thread.run_sync(ensure_demo, project)
        return await self._workspaces.plan(agent_id, name, project)

    async def create(self, spec: AgentSpec, report: Report) -> Started:
        async with self._lock(spec.agent_id):
            await self._stop(spec.agent_id)
            command = await anyio.to_thread.run_sync(self._command_of, spec.role)
            await report("Making the workspace")
            await self._workspaces.prepare(spec.workspace, report)
            await report("Starting the agent")
            return await self._start(spec, command)

    async def restart(self, spec: AgentSpec, report: Report) -> Started:
        # A workspace that is there stays as it is.
        return await self.create(spec, report)

    async def run(self, agent_id: str, text: str) -> TurnEnd:
        return await self._running(agent_id).run(text)

    async def interrupt(self, agent_id: str) -> None:
        await self._running(agent_id).interrupt()

    async def stop(self, agent_id: str) -> None:
        async with self._lock(agent_id):
            await self._stop(agent_id)

    async def delete(self, berth: Berth) -> Saved | None:
        async with self._lock(berth.agent_id):
            await self._stop(berth.agent_id)
            self._metadata.forget(berth.agent_id)
            saved = await self._workspaces.remove(berth.workspace, berth.name)
            await anyio.to_thread.run_sync(self._remove_files, berth.agent_id)
        return saved

    def is_running(self, agent_id: str) -> bool:
        agent = self._agents.get(agent_id)
        return agent is not None and agent.is_ready

    async def metadata(self, berth: Berth) -> Mapping[str, MetadataField]:
        workspace = Path(berth.workspace.path)
        taskfile = workspace / berth.workspace.taskfile if berth.workspace.taskfile else None
        commands = self._environment.of_commands()
        return await self._metadata.collect(berth.agent_id, workspace, taskfile, commands)

    async def diff(self, berth: Berth) -> Diff:
        return await self._workspaces.diff(berth.workspace)

    async def merge(self, berth: Berth, into: str | None) -> Merged:
        return await self._workspaces.merge(berth.workspace, into)

    async def push(self, berth: Berth, remote: str, branch: str | None) -> Pushed:
        return await self._workspaces.push(berth.workspace, remote, branch)

    def _lock(self, agent_id: str) -> asyncio.Lock:
        return self._locks.setdefault(agent_id, asyncio.Lock())

    def _running(self, agent_id: str) -> "LocalAgent":
        agent = self._agents.get(agent_id)
        if agent is None or not agent.is_ready:
            raise AgentFailed(agent.spec.name if agent else agent_id, "it is not running")
        return agent

    async def _start(self, spec: AgentSpec, command: Sequence[str]) -> Started:
        if self._is_closed or self._listener is None:
            raise Unavailable("Local agents cannot be started while Quarterdeck ends")
        agent_type = await anyio.to_thread.run_sync(_agent_type)
        stderr = self._stderr(spec.agent_id)
        child = await self._spawn(spec, command, stderr)
        agent = agent_type(
            spec,
            child,
            stderr=stderr,
            listener=self._listener,
            patience=self._patience,
            on_end=self._note_end,
        )
        try:
            started = await agent.open()
        except BaseException:
            # Also when nobody waits any more: no process may be left behind.
            with anyio.CancelScope(shield=True):
                await agent.stop()
            raise
        self._agents[spec.agent_id] = agent
        return started

    async def _spawn(self, spec: AgentSpec, command: Sequence[str], stderr: StderrLog) -> Child:
        environment = self._environment.of(spec.role, spec.agent_id)
        stderr.begin()
        spawning = asyncio.create_task(
            self._keeper.spawn(
                command, cwd=Path(spec.workspace.path), env=environment, stderr=stderr.path
            )
        )
        try:
            return await asyncio.shield(spawning)
        except CannotStart as error:
            raise AgentFailed(spec.name, str(error)) from error
        except asyncio.CancelledError:
            # Its process may be there already, and nobody else would end it.
            with anyio.CancelScope(shield=True), suppress(CannotStart):
                await (await spawning).end(grace=0)
            raise

    async def _stop(self, agent_id: str) -> None:
        if agent := self._agents.pop(agent_id, None):
            await agent.stop()

    async def _note_end(self, agent: "LocalAgent", reason: str) -> None:
        agent_id = agent.spec.agent_id
        # One that never got ready has failed whoever is starting it.
        if self._agents.get(agent_id) is agent:
            del self._agents[agent_id]
            assert self._listener is not None  # it has started agents
            await self._listener.gone(agent_id, reason)

    def _stderr(self, agent_id: str) -> StderrLog:
        return StderrLog(self._home / "logs" / "agents" / f"{agent_id}.stderr")

    def _remove_files(self, agent_id: str) -> None:
        self._stderr(agent_id).remove()
        with suppress(FileNotFoundError):
            shutil.rmtree(self._environment.state_folder(agent_id))

    async def _keep_trimming(self) -> None:
        while True:
            await asyncio.sleep(TRIM_SECONDS)
            for agent in list(self._agents.values()):
                with suppress(OSError):  # a full disk: the next round may find room
                    agent.stderr.trim()


def _agent_type() -> "type[LocalAgent]":
    """Load the protocol, which takes more than half a second, when the first agent starts."""
    for _ in range(LOADINGS):
        # The package of the protocol parses its own source code, which Python 3.11.7 and older
        # sometimes fail to do while other threads run ("recursion depth mismatch").
        with suppress(SystemError):
            return _load_agent_type()
    return _load_agent_type()


def _load_agent_type() -> "type[LocalAgent]":
    from quarterdeck.repositories.runtimes.local_agent import LocalAgent  # noqa: PLC0415 - so heavy

    return LocalAgent
