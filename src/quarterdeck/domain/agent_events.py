"""What a runtime reports of an agent at work, whatever protocol it came by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from quarterdeck.domain.agent_log import LogKind, LogLevel
from quarterdeck.domain.questions import Option


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of text; pieces that follow each other with the same `message_id` are one message."""

    text: str
    by: Literal["agent", "user"] = "agent"
    is_thought: bool = False
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A tool call began or changed; `tool_kind` is read, edit, execute and so on."""

    call_id: str
    title: str
    tool_kind: str = "other"
    status: str = "pending"
    text: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """The agent's plan, whole each time: what is to be done, and how far each entry is."""

    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """What the conversation has cost so far, in all, and how full its context is."""

    cost: float | None = None
    currency: str | None = None
    context_used: int | None = None
    context_size: int | None = None


@dataclass(frozen=True, slots=True)
class Noticed:
    """Anything else that belongs in the log: a line of stderr, an update nobody knows."""

    text: str
    level: LogLevel = LogLevel.DEBUG
    kind: LogKind = LogKind.OTHER


AgentEvent = Said | UsedTool | Planned | Spent | Noticed


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """An agent wants to know whether it may do something; it waits for the answer."""

    title: str
    tool_kind: str
    options: tuple[Option, ...]
    paths: tuple[str, ...] = ()
    details: Mapping[str, object] | None = None
