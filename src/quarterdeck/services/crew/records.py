"""What is written of a task when it ends: how, with what, and what it left behind."""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime

from quarterdeck.domain.redaction import Redactor
from quarterdeck.domain.tasks import Task, TaskState, Usage
from quarterdeck.domain.workspaces import Diff
from quarterdeck.errors import QuarterdeckError
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.store import Transaction
from quarterdeck.services.crew.limits import Meter
from quarterdeck.services.crew.members import Member
from quarterdeck.services.crew.outcomes import (
    RESULT_LENGTH,
    Outcome,
    last_link,
    report_of,
)
from quarterdeck.services.crew.rows import FleetRows

logger = logging.getLogger(__name__)

DIFF_SECONDS = 10.0
# A record names files; the diff itself shows all of them.
MOST_FILES = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """The end of a task, ready to be written."""

    task: Task
    outcome: Outcome
    said: str
    usage: Usage
    diff: Diff


class TaskRecords:
    """Writes the ends of tasks."""

    def __init__(self, rows: FleetRows, clock: Clock, redactor: Redactor) -> None:
        """What agents said is kept as `redactor` leaves it."""
        self._rows = rows
        self._clock = clock
        self._redactor = redactor

    def shown(self, text: str) -> str:
        """Return a text as it may be shown to anybody."""
        return self._redactor.text(text)

    async def of(self, member: Member, task: Task, outcome: Outcome, meter: Meter) -> Record:
        """Return what is known of a task that has just ended."""
        usage = outcome.usage
        if meter.cost and not usage.cost:
            spent = {"cost": round(meter.cost, 9), "currency": meter.currency}
            usage = usage.model_copy(update=spent)
        return Record(task, outcome, member.said, usage, await _diff_of(member))

    def write(self, tx: Transaction, record: Record) -> None:
        """Write the end of a task, and what its agent has to show for it."""
        now, task = self._clock.now(), self._rows.tasks.find(tx, record.task.id)
        if task is None or task.ended_at is not None:
            return  # somebody ended it meanwhile, by deleting or restarting the agent
        self._rows.tasks.save(tx, self._ended(tx, task, record, now))
        agent = self._rows.agents.find(tx, task.agent_id)
        if agent is not None:
            report = report_of(self.shown(record.said)) or record.outcome.problem
            changed = replace(
                agent,
                last_report=report or agent.last_report,
                usage=agent.usage.plus(record.usage),
                updated_at=now,
            )
            self._rows.agents.save(tx, changed)

    def _ended(self, tx: Transaction, task: Task, record: Record, now: datetime) -> Task:
        said, problem = self.shown(record.said), record.outcome.problem
        before = self._rows.tasks.page(tx, task.agent_id, offset=0, limit=100)
        known = {commit for earlier in before for commit in earlier.commits}
        commits = [commit.id for commit in record.diff.commits if commit.id not in known]
        is_done = record.outcome.state is TaskState.DONE
        return replace(
            task,
            state=record.outcome.state,
            stop_reason=record.outcome.stop_reason,
            result=(said if is_done else self.shown(problem or said))[-RESULT_LENGTH:] or None,
            uri=last_link(said) or task.uri,
            branch=record.diff.branch,
            commits=tuple(commits),
            files=tuple(file.path for file in record.diff.files[:MOST_FILES]),
            usage=record.usage,
            ended_at=now,
        )


def interrupted(task: Task, now: datetime, reason: str) -> Task:
    """Return a task that our own process left undone."""
    return replace(task, state=TaskState.INTERRUPTED, result=reason, ended_at=now)


async def _diff_of(member: Member) -> Diff:
    try:
        return await asyncio.wait_for(member.runtime.diff(member.spec), DIFF_SECONDS)
    except (QuarterdeckError, TimeoutError):
        logger.warning("Cannot tell what agent %r changed", member.spec.name, exc_info=True)
        return Diff(branch=member.spec.workspace.branch, reason="it could not be told")
