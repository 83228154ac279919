"""The log of an agent: what it said and did, entry by entry."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

# Longer messages go on in the next entry, so that no page of the log grows without end.
MESSAGE_LENGTH = 64 * 1024


class LogLevel(StrEnum):
    """DEBUG is for tool calls, INFO for text, WARN for questions and limits, ERROR for crashes."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


class LogRole(StrEnum):
    """Who speaks: a person or another agent, the agent, or Quarterdeck itself."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


class LogKind(StrEnum):
    """What an entry is about."""

    TASK = "task"
    MESSAGE = "message"
    THOUGHT = "thought"
    TOOL = "tool"
    PLAN = "plan"
    QUESTION = "question"
    LIMIT = "limit"
    STATE = "state"
    ERROR = "error"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry; `seq` counts an agent's entries from 1."""

    agent_id: str
    seq: int
    at: datetime
    level: LogLevel
    role: LogRole
    kind: LogKind
    message: str
    task_id: str | None = None
