"""Where the fleet's rows are kept; each method runs inside a transaction of the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from quarterdeck.domain.agent_log import LogEntry
from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.questions import Question
from quarterdeck.domain.tasks import Task, Usage
from quarterdeck.ports.store import Transaction

T = TypeVar("T")


class ById(Protocol[T]):
    """Things with an id that are kept as a whole."""

    def add(self, tx: Transaction, thing: T, /) -> None:
        """Keep a new one; nothing that must differ may be the same as in one that is there."""
        ...

    def save(self, tx: Transaction, thing: T, /) -> None:
        """Write one over itself, after it was found in the same transaction."""
        ...

    def find(self, tx: Transaction, its_id: str, /) -> T | None:
        """Return the one with this id, or `None`."""
        ...


class AgentRepository(ById[Agent], Protocol):
    """Agents, those that were deleted included until they are cleaned away."""

    def find_named(self, tx: Transaction, name: str) -> Agent | None:
        """Return the living agent of this name, whatever its case; else the one deleted last."""
        ...

    def list(self, tx: Transaction, status: AgentStatus | None = None) -> Sequence[Agent]:
        """Return agents, newest first; deleted ones only when they are asked for."""
        ...

    def remove(self, tx: Transaction, agent_id: str) -> None:
        """Forget an agent with its tasks, log and questions."""
        ...


@dataclass(frozen=True, slots=True)
class Spending:
    """What one agent used on one day, in UTC."""

    day: str
    agent_name: str
    usage: Usage


class TaskRepository(ById[Task], Protocol):
    """The tasks that agents were given."""

    def open_of(self, tx: Transaction, agent_id: str) -> Sequence[Task]:
        """Return the tasks of an agent that are queued or running, oldest first."""
        ...

    def newest_of(self, tx: Transaction, agent_id: str) -> Task | None:
        """Return the task that the agent was given last, or `None`."""
        ...

    def page(self, tx: Transaction, agent_id: str, *, offset: int, limit: int) -> Sequence[Task]:
        """Return tasks of an agent, newest first."""
        ...

    def count(self, tx: Transaction, agent_id: str) -> int:
        """Count the tasks of an agent."""
        ...

    def spending(self, tx: Transaction, since: datetime) -> Sequence[Spending]:
        """Return what agents used, by day and agent, newest day first."""
        ...


@dataclass(frozen=True, slots=True)
class LogSpan:
    """Which entries of an agent are kept: `first` to `last` without a gap, and their size."""

    first: int
    last: int
    size: int

    @property
    def count(self) -> int:
        """Return how many there are."""
        return self.last - self.first + 1 if self.last else 0


class AgentLogRepository(Protocol):
    """The entries of agents' logs."""

    def add(self, tx: Transaction, entry: LogEntry) -> None:
        """Keep the next entry."""
        ...

    def extend(self, tx: Transaction, agent_id: str, seq: int, text: str) -> None:
        """Add text to an entry."""
        ...

    def span(self, tx: Transaction, agent_id: str) -> LogSpan:
        """Return which entries are kept; none is 0 to 0."""
        ...

    def entries(self, tx: Transaction, agent_id: str, first: int, last: int) -> Sequence[LogEntry]:
        """Return the entries of a range, newest first."""
        ...

    def remove(self, tx: Transaction, agent_id: str, last: int) -> None:
        """Forget the entries up to `last`."""
        ...


class QuestionRepository(ById[Question], Protocol):
    """What agents asked."""

    def open(self, tx: Transaction) -> Sequence[Question]:
        """Return the questions that wait for an answer, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """What one daemon asks of another; it is answered by `answer` or `error`, both JSON."""

    id: str
    to_daemon: str
    name: str
    arguments: str
    asked_at: datetime
    deadline: datetime
    taken_at: datetime | None = None
    answer: str | None = None
    error: str | None = None


class CommandRepository(Protocol):
    """Commands between daemons."""

    def add(self, tx: Transaction, command: Command) -> None:
        """Ask."""
        ...

    def find(self, tx: Transaction, command_id: str) -> Command | None:
        """Return a command, or `None`."""
        ...

    def waiting(self, tx: Transaction, daemon_id: str) -> Sequence[Command]:
        """Return what a daemon is asked for and has not taken up, oldest first."""
        ...

    def take(self, tx: Transaction, command_id: str, now: datetime) -> bool:
        """Take a command up; return whether nobody had done so."""
        ...

    def finish(
        self, tx: Transaction, command_id: str, answer: str | None, error: str | None
    ) -> None:
        """Answer."""
        ...

    def remove(self, tx: Transaction, command_id: str) -> None:
        """Forget a command, answered or not."""
        ...

    def prune(self, tx: Transaction, before: datetime) -> None:
        """Forget what nobody has waited for since."""
        ...
