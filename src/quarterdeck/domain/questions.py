"""Questions: what an agent asked for leave to do, and who answered."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class OptionKind(StrEnum):
    """What an option means, whatever an agent calls it."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"


class Option(BaseModel):
    """One of the answers that an agent offers; `id` is the agent's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    kind: OptionKind


class QuestionState(StrEnum):
    """EXPIRED means that its default was taken, or that nobody can hear the answer any more."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Question:
    """One question as it is stored; without an answer by `deadline`, `default` is taken."""

    id: str
    agent_id: str
    agent_name: str
    daemon_id: str
    task_id: str | None
    title: str
    tool_kind: str
    paths: tuple[str, ...]
    options: tuple[Option, ...]
    default: str | None
    asked_at: datetime
    deadline: datetime
    state: QuestionState = QuestionState.OPEN
    option_id: str | None = None
    answered_by: str | None = None
    answered_at: datetime | None = None


def option_of(options: tuple[Option, ...], kind: OptionKind) -> Option | None:
    """Return the first option of a kind."""
    return next((option for option in options if option.kind is kind), None)


def option_of_id(options: tuple[Option, ...], option_id: str) -> Option | None:
    """Return the option that the agent calls so."""
    return next((option for option in options if option.id == option_id), None)


def allowing(options: tuple[Option, ...]) -> Option | None:
    """Return what allows this once.

    Never what allows always: such an option can lift a whole session's limits.
    """
    return option_of(options, OptionKind.ALLOW_ONCE)


def rejecting(options: tuple[Option, ...]) -> Option | None:
    """Return what rejects this once, or else what rejects it always; both are safe."""
    once = option_of(options, OptionKind.REJECT_ONCE)
    return once or option_of(options, OptionKind.REJECT_ALWAYS)
