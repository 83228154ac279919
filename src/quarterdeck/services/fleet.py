"""What the fleet's services share: finding agents, and knowing who runs them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from quarterdeck.domain.agents import LIVING, Agent, AgentStatus, checked_name_of
from quarterdeck.domain.questions import Question
from quarterdeck.errors import AgentElsewhere, AgentFailed, AgentNotFound
from quarterdeck.ports.presence import Presence
from quarterdeck.ports.repositories import DaemonRepository, SeenDaemon
from quarterdeck.ports.runtime import AgentRuntime, AgentSpec, Berth
from quarterdeck.ports.store import Transaction
from quarterdeck.services.agent_views import Sight
from quarterdeck.services.crew.crew import Crew
from quarterdeck.services.crew.rows import FleetRows
from quarterdeck.services.operation import Operations
from quarterdeck.services.projects import ProjectService


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Who this process is, and how it knows of the others."""

    daemon_id: str
    presence: Presence
    daemons: DaemonRepository
    # A daemon on another machine that has not been seen for so long is gone.
    lost_after: timedelta

    @property
    def node_id(self) -> str:
        """Return the id of this home on this machine."""
        return self.presence.node_id


@dataclass(frozen=True, slots=True)
class Fleet:
    """Agents, wherever they run."""

    operations: Operations
    rows: FleetRows
    crew: Crew
    projects: ProjectService
    runtimes: Mapping[str, AgentRuntime]
    here: Whereabouts

    async def find(self, name: str) -> Agent:
        """Return the agent of this name as it is stored.

        Raises:
            AgentNotFound: With the closest name there is.
        """
        return await self.operations.store.read(lambda tx: self.find_in(tx, name))

    def find_in(self, tx: Transaction, name: str, *, or_deleted: bool = False) -> Agent:
        """Do what `find` does, inside a transaction; what is past is known of deleted ones too."""
        agent = self.rows.agents.find_named(tx, checked_name_of(name))
        if agent is None or (agent.status is AgentStatus.DELETED and not or_deleted):
            names = [other.name for other in self.rows.agents.list(tx)]
            raise AgentNotFound(name, names)
        return agent

    def is_ours(self, agent: Agent) -> bool:
        """Say whether this process is the one to speak to an agent.

        It is its own agents' keeper, and that of agents of its home whom no process runs.
        """
        if agent.daemon_id == self.here.daemon_id:
            return True
        is_here = agent.node_id == self.here.node_id
        return is_here and not self.here.presence.is_alive(agent.daemon_id)

    def berth_of(self, agent: Agent) -> tuple[Berth, AgentRuntime]:
        """Return where an agent works, and its runtime; its project and role may be gone."""
        runtime = self.runtimes.get(agent.runtime)
        if runtime is None or agent.workspace is None:
            why = f"this Quarterdeck has no runtime {agent.runtime!r}"
            raise AgentFailed(agent.name, why, hint="configure it and start Quarterdeck again")
        return Berth(agent.id, agent.name, agent.workspace), runtime

    async def runtime_of(self, agent: Agent) -> tuple[AgentSpec, AgentRuntime]:
        """Return what an agent's runtime is told when it starts, and the runtime."""
        berth, runtime = self.berth_of(agent)
        spec = AgentSpec(
            agent_id=berth.agent_id,
            name=berth.name,
            workspace=berth.workspace,
            project=await self.projects.get(agent.project_id),
            role=await self.projects.get_role(agent.role_id),
            conversation=agent.conversation,
        )
        return spec, runtime

    def seen(self, tx: Transaction, agent: Agent, question: Question | None) -> Sight:
        """Return an agent as it stands; one whose daemon is gone has failed."""
        if agent.daemon_id == self.here.daemon_id or agent.status not in LIVING:
            return Sight(agent, question)
        lost = self._lost(tx, agent)
        if lost is None:
            return Sight(agent, question)
        failed = replace(agent, status=AgentStatus.FAILED, reason=lost)
        return Sight(failed, None, unavailable=lost)

    def owner(self, tx: Transaction, agent: Agent) -> SeenDaemon:
        """Return the daemon of an agent that is run elsewhere, if it is alive.

        Raises:
            AgentElsewhere: It names the host, and when it was last seen.
        """
        daemon = self.here.daemons.find(tx, agent.daemon_id)
        if daemon is None or self._lost(tx, agent) is not None:
            host = daemon.host if daemon else "another machine"
            last_seen = daemon.seen_at.isoformat() if daemon else "long ago"
            raise AgentElsewhere(agent.name, host, last_seen)
        return daemon

    def _lost(self, tx: Transaction, agent: Agent) -> str | None:
        """Return why nobody runs an agent that should be running, or `None`."""
        if agent.node_id == self.here.node_id:
            alive = self.here.presence.is_alive(agent.daemon_id)
            return None if alive else "its daemon ended unexpectedly"
        daemon = self.here.daemons.find(tx, agent.daemon_id)
        if daemon is None:
            return "its daemon has ended"
        if self.operations.clock.now() - daemon.seen_at <= self.here.lost_after:
            return None
        seen_at = daemon.seen_at.replace(microsecond=0).isoformat().replace("+00:00", "Z")
        return f"its daemon on {daemon.host!r} was last seen at {seen_at}"
