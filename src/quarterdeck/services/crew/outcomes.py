"""How a task ended, from how the agent's turn ended and why."""

import re
from dataclasses import dataclass, field

from quarterdeck.domain.tasks import StopReason, TaskState, TurnEnd, Usage
from quarterdeck.errors import QuarterdeckError

RESULT_LENGTH = 20_000
REPORT_LENGTH = 500

_LINK = re.compile(r"https?://[^\s<>\"'`)\]]+")
_BROKEN_OFF = {
    StopReason.MAX_TOKENS: "the model's limit of tokens was reached",
    StopReason.MAX_TURN_REQUESTS: "the agent's own limit of requests was reached",
    StopReason.REFUSAL: "the agent refused",
    StopReason.PERMISSION_REFUSED: "the agent ended its task when a permission was refused",
    StopReason.CANCELLED: "the agent broke off",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a task; `problem` says what went wrong, if something did."""

    state: TaskState
    stop_reason: str | None = None
    problem: str | None = None
    usage: Usage = field(default_factory=Usage)


CANCELED = Outcome(TaskState.CANCELED, StopReason.CANCELLED.value, "canceled")


def outcome_of(end: TurnEnd, *, cancel_asked: bool, stopped_for: str | None) -> Outcome:
    """Return how a task ended whose turn the agent ended."""
    reason = end.stop_reason
    if stopped_for is not None:
        problem = f"stopped at a limit of its role: {stopped_for}"
        return Outcome(TaskState.FAILED, "limit", problem, end.usage)
    if cancel_asked and reason is StopReason.CANCELLED:
        return Outcome(TaskState.CANCELED, reason.value, "canceled", end.usage)
    if reason in _BROKEN_OFF:
        return Outcome(TaskState.FAILED, reason.value, _BROKEN_OFF[reason], end.usage)
    return Outcome(TaskState.DONE, reason.value, None, end.usage)


def outcome_of_failure(error: QuarterdeckError, stopped_for: str | None) -> Outcome:
    """Return how a task ended whose agent broke down."""
    if stopped_for is not None:
        problem = f"stopped at a limit of its role: {stopped_for} (it had to be ended)"
        return Outcome(TaskState.FAILED, "limit", problem)
    problem = error.details.get("problem")
    return Outcome(TaskState.FAILED, "crashed", str(problem or error.message))


def last_link(text: str) -> str | None:
    """Return the last address that a text names."""
    found = _LINK.findall(text)
    return found[-1].rstrip(".,;:!?") if found else None


def report_of(text: str) -> str | None:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:REPORT_LENGTH] if lines else None
