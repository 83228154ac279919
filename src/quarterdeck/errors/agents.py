"""Errors about agents, their tasks and questions."""

from collections.abc import Sequence

from quarterdeck.errors.base import (
    Conflict,
    InvalidInput,
    NotFound,
    QuarterdeckError,
    Unavailable,
    closest_name,
)


class AgentNotOnline(InvalidInput):
    """Only an agent that runs can be given a task."""

    def __init__(self, name: str, status: str, reason: str | None = None) -> None:
        super().__init__(
            f"Agent {name!r} is {status} and takes no task now",
            details={
                "agent_name": name,
                "status": status,
                **({"reason": reason} if reason else {}),
            },
            hint="wait until it has started"
            if status in {"pending", "starting"}
            else f"restart_agent brings it back; show_agent {name!r} says why it is {status}",
        )


class NoTaskRunning(InvalidInput):
    """An agent that does nothing cannot be stopped doing it."""

    def __init__(self, name: str, status: str) -> None:
        super().__init__(
            f"Agent {name!r} is {status} and has no task to cancel",
            details={"agent_name": name, "status": status},
            hint="show_agent_task_history shows how its tasks ended",
        )


class AgentNotFound(NotFound):
    """No living agent has this name."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        closest = closest_name(name, known)
        super().__init__(
            f"Agent {name!r} not found",
            details={"agent_name": name, **({"closest": closest} if closest else {})},
            hint=f"did you mean {closest!r}?" if closest else "list_agents shows all agents",
        )


class QuestionNotFound(NotFound):
    """No stored question has this id."""

    def __init__(self, question_id: str) -> None:
        super().__init__(
            f"Question {question_id!r} not found",
            details={"question_id": question_id},
            hint="question_list shows the questions that are open",
        )


class AgentExists(Conflict):
    """Names are compared without regard to case."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"An agent named {name!r} already exists",
            details={"name": name},
            hint="choose another name, or give that agent the task with start_agent_task",
        )


class AgentBusy(Conflict):
    """An agent works on one task at a time."""

    def __init__(self, name: str, task: str | None) -> None:
        super().__init__(
            f"Agent {name!r} is busy with another task",
            details={"agent_name": name, "task": task},
            hint="wait_for_agent waits for its end, cancel_agent_task stops it, and queue: true"
            " puts the new task behind it",
        )


class QuestionClosed(Conflict):
    """An answer that nobody waits for would change nothing."""

    def __init__(self, question_id: str, state: str) -> None:
        super().__init__(
            f"Question {question_id!r} is {state} and takes no answer any more",
            details={"question_id": question_id, "state": state},
            hint="question_list shows the questions that are open",
        )


class AgentElsewhere(Unavailable):
    """The daemon that runs an agent did not answer in time; it may be gone."""

    def __init__(self, name: str, host: str, last_seen: str) -> None:
        super().__init__(
            f"Agent {name!r} belongs to a daemon on {host!r} that does not answer",
            details={"agent_name": name, "host": host, "last_seen": last_seen},
            hint=f"look at Quarterdeck on {host!r}: nobody else may take its agents over",
        )


class AgentFailed(QuarterdeckError):
    """An agent did not start, or broke off; `why` is what it or its runtime said."""

    def __init__(self, name: str, why: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"Agent {name!r} failed: {why}",
            details={"agent_name": name, "problem": why},
            hint=hint or "show_agent_log shows what it said last; restart_agent starts it again",
        )
