"""Agents: their names, their states, and what is known of each."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from quarterdeck.domain.tasks import Usage
from quarterdeck.domain.workspaces import Workspace
from quarterdeck.errors import InvalidInput

NAME_LENGTH = 32
NAME_PATTERN = r"^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$"
# Any agent: those behind other runtimes may have longer names, and other characters.
ANY_NAME_LENGTH = 50
ANY_NAME_PATTERN = r"^[a-zA-Z0-9][a-zA-Z0-9_-]*$"
# Pages and tools have these names already.
RESERVED = frozenset({"new", "create", "list", "start", "status", "bridge", "unbridge"})

_NAME = re.compile(NAME_PATTERN)
_ANY_NAME = re.compile(ANY_NAME_PATTERN)


class AgentStatus(StrEnum):
    """Where an agent is in its life; it can be given a task while it is idle."""

    PENDING = "pending"
    STARTING = "starting"
    IDLE = "idle"
    BUSY = "busy"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"
    CANCELING = "canceling"
    CANCELED = "canceled"
    DELETING = "deleting"
    DELETED = "deleted"


ONLINE = frozenset({AgentStatus.IDLE, AgentStatus.BUSY})
# It has a process, or is about to have one.
LIVING = frozenset(
    {AgentStatus.PENDING, AgentStatus.STARTING, AgentStatus.CANCELING, AgentStatus.STOPPING}
    | ONLINE
)
RELEASED = frozenset({AgentStatus.DELETING, AgentStatus.DELETED})


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent as it is stored.

    `daemon_id` is the process that runs it, or ran it last; `node_id` the home and machine where
    its workspace is. `reason` says why it stands where it stands, if that is not plain.
    """

    id: str
    name: str
    runtime: str
    project_id: str
    project: str
    role_id: str
    role: str
    status: AgentStatus
    node_id: str
    daemon_id: str
    workspace_id: str
    created_at: datetime
    updated_at: datetime
    workspace: Workspace | None = None
    reason: str | None = None
    conversation: str | None = None
    last_task: str | None = None
    last_report: str | None = None
    usage: Usage = field(default_factory=Usage)
    deleted_at: datetime | None = None

    @property
    def is_online(self) -> bool:
        """Say whether it answers now."""
        return self.status in ONLINE


def checked_new_name(name: str) -> str:
    """Return a name that a new fleet agent may have."""
    if not 1 <= len(name) <= NAME_LENGTH or not _NAME.fullmatch(name):
        raise InvalidInput.field(
            "name",
            f"must have 1 to {NAME_LENGTH} letters and digits, with single hyphens between them",
            hint="choose a short name such as 'sony' or 'login-fix'",
        )
    if name.casefold() in RESERVED:
        raise InvalidInput.field(
            "name", f"must not be {name!r}, which is reserved", hint="choose another name"
        )
    return name


def checked_name_of(name: str, field: str = "agent_name") -> str:
    """Return a name that some agent could have, to look it up by."""
    if not 1 <= len(name) <= ANY_NAME_LENGTH or not _ANY_NAME.fullmatch(name):
        raise InvalidInput.field(
            field,
            f"must have 1 to {ANY_NAME_LENGTH} letters, digits, hyphens and underscores",
            hint="list_agents shows the names",
        )
    return name
