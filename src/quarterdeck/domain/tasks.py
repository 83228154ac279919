"""Tasks: what an agent was given to do, and how that ended."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from quarterdeck.domain.names import checked_name
from quarterdeck.errors import InvalidInput

TASK_LENGTH = 100_000


class TaskState(StrEnum):
    """QUEUED and RUNNING are open; INTERRUPTED means that our own process went away under it."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELED = "canceled"
    INTERRUPTED = "interrupted"


OPEN = frozenset({TaskState.QUEUED, TaskState.RUNNING})


class Usage(BaseModel):
    """What agents reported of tokens and money; nothing is guessed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost: float = 0.0
    currency: str | None = None

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of both."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cost=round(self.cost + other.cost, 9),
            currency=self.currency or other.currency,
        )


@dataclass(frozen=True, slots=True)
class Task:
    """One task as it is stored. `uri` is the last link that the agent reported."""

    id: str
    agent_id: str
    daemon_id: str
    message: str
    state: TaskState
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    result: str | None = None
    uri: str | None = None
    stop_reason: str | None = None
    branch: str | None = None
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    verdict: str | None = None


class StopReason(StrEnum):
    """Why an agent's turn ended, as it says itself or as can be told."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    PERMISSION_REFUSED = "permission_refused"
    CANCELLED = "cancelled"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended that the agent ended itself."""

    stop_reason: StopReason
    usage: Usage = field(default_factory=Usage)


def checked_task(text: str, field: str) -> str:
    """Return the text of a task, which must say something."""
    if not text.strip():
        raise InvalidInput.field(
            field, "must not be blank", hint="say what the agent is to do, and what is not"
        )
    return checked_name(field, text, longest=TASK_LENGTH)
