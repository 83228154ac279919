"""Tasks in SQL."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Integer, bindparam, func, literal_column, select

from quarterdeck.domain.ids import first_id
from quarterdeck.domain.tasks import Task, TaskState, Usage
from quarterdeck.ports.fleet import Spending
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.by_id import ById
from quarterdeck.repositories.sql.tables import agents_table, tasks_table
from quarterdeck.repositories.sql.transaction import (
    Statement,
    from_micros,
    read_moment,
    sql,
    stored_moment,
    to_micros,
)

t = tasks_table
_OF_AGENT = t.c.agent_id == bindparam("of_agent")
_NEWEST = select(t).where(_OF_AGENT).order_by(t.c.id.desc())

_OPEN = Statement(select(t).where(_OF_AGENT, t.c.ended_at.is_(None)).order_by(t.c.id))
_LAST = Statement(_NEWEST.limit(literal_column("1")))
_PAGE = Statement(
    _NEWEST.limit(bindparam("limit", type_=Integer)).offset(bindparam("offset", type_=Integer))
)
_COUNT = Statement(select(func.count()).select_from(t).where(_OF_AGENT))
_SPENT = Statement(
    select(t.c.created_at, agents_table.c.name, t.c.usage)
    .join(agents_table, agents_table.c.id == t.c.agent_id)
    .where(t.c.id >= bindparam("since"))
    .order_by(t.c.id.desc())
)


class SqlTaskRepository(ById[Task]):
    """Implements `TaskRepository`."""

    def __init__(self) -> None:
        super().__init__(t, _stored, _task)

    def open_of(self, tx: Transaction, agent_id: str) -> Sequence[Task]:
        """Return the tasks of an agent that are queued or running, oldest first."""
        return self.many(tx, _OPEN, {"of_agent": agent_id})

    def newest_of(self, tx: Transaction, agent_id: str) -> Task | None:
        """Return the task that the agent was given last, or `None`."""
        return self.one(tx, _LAST, {"of_agent": agent_id})

    def page(self, tx: Transaction, agent_id: str, *, offset: int, limit: int) -> Sequence[Task]:
        """Return tasks of an agent, newest first."""
        asked = {"of_agent": agent_id, "offset": offset, "limit": limit}
        return self.many(tx, _PAGE, asked)

    def count(self, tx: Transaction, agent_id: str) -> int:
        """Count the tasks of an agent."""
        row = sql(tx).row(_COUNT, {"of_agent": agent_id})
        return row[0] if row else 0

    def spending(self, tx: Transaction, since: datetime) -> Sequence[Spending]:
        """Return what agents used, by day and agent, newest day first."""
        sums: dict[tuple[str, str], Usage] = {}
        for created_at, name, usage in sql(tx).rows(_SPENT, {"since": first_id(since)}):
            day = from_micros(created_at).astimezone(UTC).date().isoformat()
            so_far = sums.get((day, name), Usage())
            sums[day, name] = so_far.plus(Usage.model_validate_json(usage))
        return [Spending(day, name, usage) for (day, name), usage in sums.items()]


def _stored(task: Task) -> dict[str, object]:
    return {
        "id": task.id,
        "agent_id": task.agent_id,
        "daemon_id": task.daemon_id,
        "message": task.message,
        "state": task.state.value,
        "created_at": to_micros(task.created_at),
        "started_at": stored_moment(task.started_at),
        "ended_at": stored_moment(task.ended_at),
        "result": task.result,
        "uri": task.uri,
        "stop_reason": task.stop_reason,
        "branch": task.branch,
        "commits": json.dumps(task.commits),
        "files": json.dumps(task.files),
        "usage": task.usage.model_dump_json(),
        "verdict": task.verdict,
    }


def _task(got: Mapping[str, Any]) -> Task:
    return Task(
        id=got["id"],
        agent_id=got["agent_id"],
        daemon_id=got["daemon_id"],
        message=got["message"],
        state=TaskState(got["state"]),
        created_at=from_micros(got["created_at"]),
        started_at=read_moment(got["started_at"]),
        ended_at=read_moment(got["ended_at"]),
        result=got["result"],
        uri=got["uri"],
        stop_reason=got["stop_reason"],
        branch=got["branch"],
        commits=tuple(json.loads(got["commits"])),
        files=tuple(json.loads(got["files"])),
        usage=Usage.model_validate_json(got["usage"]),
        verdict=got["verdict"],
    )
