"""The programs of agents: where they are, and how they get there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quarterdeck.domain.known_agents import KnownAgent
from quarterdeck.domain.roles import RoleDefinition

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """Where an agent's program is; `is_new` says that it was fetched just now."""

    path: Path
    version: str
    is_new: bool


class AgentPrograms(Protocol):
    """The programs of this machine."""

    def resolve(self, role: RoleDefinition) -> tuple[str, ...]:
        """Return the command that starts an agent of this role; nothing is fetched.

        Raises:
            AgentNotInstalled: It names the command that fetches it.
        """
        ...

    async def install(self, agent: KnownAgent, say: Say) -> InstalledProgram:
        """Fetch the agent's pinned version, unless it is there; half of one is never used.

        Raises:
            InstallFailed: It says why, and what to do.
        """
        ...
