"""A runtime in memory, for tests of what stands on runtimes; it passes their contract."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from uuid import uuid4

from quarterdeck.domain.metadata import MetadataField
from quarterdeck.domain.projects import Project
from quarterdeck.domain.roles import Role
from quarterdeck.domain.tasks import TurnEnd
from quarterdeck.domain.workspaces import ChangedFile, Diff, Merged, Pushed, Saved, Workspace
from quarterdeck.errors import AgentBusy, AgentFailed, Unavailable
from quarterdeck.ports.runtime import AgentSpec, Berth, Report, RuntimeListener, Started
from quarterdeck.testing.fake_agent import Crashed, FakeAgent

COMMIT = "0" * 40


class FakeRuntime:
    """Runs agents in memory; `fields` is the metadata of each, `files` their workspaces."""

    def __init__(self, kind: str = "local", *, resumes: bool = True) -> None:
        self.fields: Mapping[str, MetadataField] = {}
        self.files: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._kind = kind
        self._resumes = resumes
        self._listener: RuntimeListener | None = None
        self._agents: dict[str, FakeAgent] = {}
        self._turns: dict[str, asyncio.Task[TurnEnd]] = {}

    @property
    def kind(self) -> str:
        """Return the name of the runtime that this stands for."""
        return self._kind

    async def open(self, listener: RuntimeListener) -> None:
        """Tell this listener from now on."""
        self._listener = listener

    async def close(self) -> None:
        """Stop every agent."""
        for agent_id in list(self._agents):
            await self.stop(agent_id)

    async def plan(self, agent_id: str, name: str, project: Project, role: Role) -> Workspace:
        """Name a folder that is not there."""
        return Workspace(kind="scratch", path=f"/nowhere/{project.name}/{name}-{agent_id}")

    async def create(self, spec: AgentSpec, report: Report) -> Started:
        """Make an agent that is ready at once."""
        if self._listener is None:
            raise Unavailable("The runtime is not open")
        await self.stop(spec.agent_id)
        await report("Starting the agent")
        self._agents[spec.agent_id] = FakeAgent(spec, self._listener, self.files[spec.agent_id])
        if spec.conversation and self._resumes and spec.role.resume:
            return Started(spec.conversation, resumed=True)
        return Started(uuid4().hex)

    async def restart(self, spec: AgentSpec, report: Report) -> Started:
        """Make the agent anew."""
        return await self.create(spec, report)

    async def run(self, agent_id: str, text: str) -> TurnEnd:
        """Let the agent carry out the directives in the text."""
        agent = self._running(agent_id)
        if agent_id in self._turns:
            raise AgentBusy(agent.spec.name, None)
        turn = asyncio.create_task(self._turn(agent, text))
        self._turns[agent_id] = turn
        turn.add_done_callback(lambda _: self._turns.pop(agent_id, None))
        return await asyncio.shield(turn)

    async def interrupt(self, agent_id: str) -> None:
        """End what the agent does."""
        agent = self._running(agent_id)
        await asyncio.sleep(0)  # a task that was just given has begun then
        agent.end_turn()

    async def stop(self, agent_id: str) -> None:
        """End the agent."""
        agent = self._agents.pop(agent_id, None)
        if agent is not None:
            agent.is_stopped = True
            agent.end_turn()
        if turn := self._turns.get(agent_id):
            await asyncio.wait({turn})
            turn.exception()

    async def delete(self, berth: Berth) -> Saved | None:
        """End the agent and forget its files, which count as kept."""
        await self.stop(berth.agent_id)
        kept = self.files.pop(berth.agent_id, None)
        return Saved(branch=f"quarterdeck/{berth.name}", commit=COMMIT) if kept else None

    def is_running(self, agent_id: str) -> bool:
        """Say whether there is such an agent."""
        return agent_id in self._agents

    async def metadata(self, berth: Berth) -> Mapping[str, MetadataField]:
        """Return the same for each agent."""
        return self.fields if self.is_running(berth.agent_id) else {}

    async def diff(self, berth: Berth) -> Diff:
        """Return the files that the agent wrote, as new ones."""
        files = self.files[berth.agent_id]
        changed = tuple(ChangedFile(path=path, status="added", added=1) for path in files)
        return Diff(branch=f"quarterdeck/{berth.name}", files=changed)

    async def merge(self, berth: Berth, into: str | None) -> Merged:
        """Say that it was merged."""
        return Merged(into=into or "main", commit=COMMIT, branch=f"quarterdeck/{berth.name}")

    async def push(self, berth: Berth, remote: str, branch: str | None) -> Pushed:
        """Say that it was pushed."""
        return Pushed(remote=remote, branch=branch or f"quarterdeck/{berth.name}", commit=COMMIT)

    def _running(self, agent_id: str) -> FakeAgent:
        if agent_id not in self._agents:
            raise AgentFailed(agent_id, "it is not running")
        return self._agents[agent_id]

    async def _turn(self, agent: FakeAgent, text: str) -> TurnEnd:
        try:
            return await agent.take_turn(text)
        except Crashed as crash:
            self._agents.pop(agent.spec.agent_id)
            assert self._listener is not None  # it has started agents
            await self._listener.gone(agent.spec.agent_id, str(crash))
            raise AgentFailed(agent.spec.name, str(crash)) from crash
