"""Agents' logs in SQL."""

from collections.abc import Sequence

from sqlalchemy import Integer, bindparam, delete, func, insert, select, update

from quarterdeck.domain.agent_log import LogEntry, LogKind, LogLevel, LogRole
from quarterdeck.ports.fleet import LogSpan
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import agent_log_table
from quarterdeck.repositories.sql.transaction import Row, Statement, from_micros, sql, to_micros

t = agent_log_table
_OF_AGENT = t.c.agent_id == bindparam("of_agent")
_FIRST = bindparam("first", type_=t.c.seq.type)
_LAST = bindparam("last", type_=t.c.seq.type)

_ADD = Statement(insert(t))
_EXTEND = Statement(
    update(t)
    .where(_OF_AGENT, t.c.seq == bindparam("the_entry", type_=t.c.seq.type))
    .values(
        message=t.c.message + bindparam("more"),
        size=t.c.size + bindparam("more_size", type_=Integer),
    )
)
_SPAN = Statement(select(func.min(t.c.seq), func.max(t.c.seq), func.sum(t.c.size)).where(_OF_AGENT))
_ENTRIES = Statement(
    select(t).where(_OF_AGENT, t.c.seq >= _FIRST, t.c.seq <= _LAST).order_by(t.c.seq.desc())
)
_REMOVE = Statement(delete(t).where(_OF_AGENT, t.c.seq <= _LAST))


class SqlAgentLogRepository:
    """Implements `AgentLogRepository`."""

    def add(self, tx: Transaction, entry: LogEntry) -> None:
        """Keep the next entry."""
        row = {
            "agent_id": entry.agent_id,
            "seq": entry.seq,
            "task_id": entry.task_id,
            "at": to_micros(entry.at),
            "level": entry.level.value,
            "role": entry.role.value,
            "kind": entry.kind.value,
            "message": entry.message,
            "size": len(entry.message),
        }
        sql(tx).run(_ADD, row)

    def extend(self, tx: Transaction, agent_id: str, seq: int, text: str) -> None:
        """Add text to an entry."""
        more = {"of_agent": agent_id, "the_entry": seq, "more": text, "more_size": len(text)}
        sql(tx).run(_EXTEND, more)

    def span(self, tx: Transaction, agent_id: str) -> LogSpan:
        """Return which entries are kept; none is 0 to 0."""
        first, last, size = sql(tx).row(_SPAN, {"of_agent": agent_id}) or (0, 0, 0)
        return LogSpan(first or 0, last or 0, int(size or 0))

    def entries(self, tx: Transaction, agent_id: str, first: int, last: int) -> Sequence[LogEntry]:
        """Return the entries of a range, newest first."""
        asked = {"of_agent": agent_id, "first": first, "last": last}
        return [_entry(row) for row in sql(tx).rows(_ENTRIES, asked)]

    def remove(self, tx: Transaction, agent_id: str, last: int) -> None:
        """Forget the entries up to `last`."""
        sql(tx).run(_REMOVE, {"of_agent": agent_id, "last": last})


def _entry(row: Row) -> LogEntry:
    agent_id, seq, task_id, at, level, role, kind, message, _size = row
    return LogEntry(
        agent_id=agent_id,
        seq=seq,
        task_id=task_id,
        at=from_micros(at),
        level=LogLevel(level),
        role=LogRole(role),
        kind=LogKind(kind),
        message=message,
    )
