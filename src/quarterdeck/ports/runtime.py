"""What runs agents: processes here, workspaces in Coder, endpoints elsewhere.

`quarterdeck.testing.runtime_contract` says in tests what every runtime must do.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from quarterdeck.domain.agent_events import AgentEvent, PermissionRequest
from quarterdeck.domain.metadata import MetadataField
from quarterdeck.domain.projects import Project
from quarterdeck.domain.roles import Role
from quarterdeck.domain.tasks import TurnEnd
from quarterdeck.domain.workspaces import Diff, Merged, Pushed, Saved, Workspace

Report = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Our own MCP endpoint, as an agent is given it."""

    url: str
    token: str


@dataclass(frozen=True, slots=True)
class Berth:
    """Where an agent works; all that is needed once it does not run."""

    agent_id: str
    name: str
    workspace: Workspace


@dataclass(frozen=True, slots=True)
class AgentSpec(Berth):
    """All that a runtime is told of one agent. `conversation` is what it may be able to resume."""

    project: Project
    role: Role
    conversation: str | None = None
    endpoint: Endpoint | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """An agent is ready for a task; `resumed` says that it knows the conversation so far."""

    conversation: str
    resumed: bool = False


class RuntimeListener(Protocol):
    """Who is told what agents do; each call is awaited, so that a slow listener slows the agent."""

    async def heard(self, agent_id: str, event: AgentEvent) -> None:
        """Take note of an event."""
        ...

    async def asked(self, agent_id: str, request: PermissionRequest) -> str | None:
        """Return the id of the chosen option, or `None` to withdraw; may take a person's time.

        It is cancelled when the answer is no longer wanted: the task was interrupted, or the
        agent is gone.
        """
        ...

    async def gone(self, agent_id: str, reason: str) -> None:
        """Learn that an agent ended by itself, at work or not; it is not told of `stop`."""
        ...


class AgentRuntime(Protocol):
    """Brings agents to life and speaks to them.

    Each method fails with an error of our tree: `AgentFailed` when the agent is to blame,
    `Unavailable` when the runtime is.
    """

    @property
    def kind(self) -> str:
        """Return the runtime's name: local, coder, a2a."""
        ...

    async def open(self, listener: RuntimeListener) -> None:
        """Get ready; end what an earlier process of this home left running."""
        ...

    async def close(self) -> None:
        """Stop every agent; when this returns, nothing of theirs is left running."""
        ...

    async def plan(self, agent_id: str, name: str, project: Project, role: Role) -> Workspace:
        """Choose a workspace; check that it can be made, and the agent started. Nothing is made."""
        ...

    async def create(self, spec: AgentSpec, report: Report) -> Started:
        """Make the workspace and start the agent in it.

        Safe to repeat after it was cut short. When it fails, no process is left; the workspace
        may be there, half made, for `create` to finish or `delete` to remove.
        """
        ...

    async def run(self, agent_id: str, text: str) -> TurnEnd:
        """Give the agent a task and wait for its end; events go to the listener meanwhile.

        Cancelling this wait does not stop the agent.
        """
        ...

    async def interrupt(self, agent_id: str) -> None:
        """Ask the agent to stop what it does; `run` returns when it has."""
        ...

    async def restart(self, spec: AgentSpec, report: Report) -> Started:
        """Start the agent again in its workspace, whatever became of its process."""
        ...

    async def stop(self, agent_id: str) -> None:
        """End the agent's process and everything it started; safe to repeat."""
        ...

    async def delete(self, berth: Berth) -> Saved | None:
        """Stop the agent and remove its workspace; return where its unsaved work was kept.

        Safe to repeat. If its work cannot be kept, nothing is removed and this fails.
        """
        ...

    def is_running(self, agent_id: str) -> bool:
        """Say whether the agent can be spoken to."""
        ...

    async def metadata(self, berth: Berth) -> Mapping[str, MetadataField]:
        """Return what the workspace's Taskfile says; it never fails, and never takes 3 s."""
        ...

    async def diff(self, berth: Berth) -> Diff:
        """Return what the agent's workspace holds beyond its base."""
        ...

    async def merge(self, berth: Berth, into: str | None) -> Merged:
        """Merge the agent's work into a branch of its repository, or into the one it came from."""
        ...

    async def push(self, berth: Berth, remote: str, branch: str | None) -> Pushed:
        """Push the agent's branch."""
        ...
