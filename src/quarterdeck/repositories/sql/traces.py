"""Traces in SQL: one row each, its events one JSON document a line."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, delete, insert, literal_column, or_, select, update

from quarterdeck.domain.ids import first_id
from quarterdeck.domain.json import dump
from quarterdeck.domain.trace import EventType, Trace, TraceEvent, TraceStatus
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import traces_table as t
from quarterdeck.repositories.sql.transaction import (
    Row,
    Statement,
    from_micros,
    sql,
    to_micros,
)

_LIMIT = bindparam("limit", type_=Integer)
_BY_ID = t.c.trace_id == bindparam("trace_id")
_SUMMARY = [column for column in t.c if column.name != "events"]
_ROOTS = (
    select(*_SUMMARY).where(t.c.parent_id.is_(None)).order_by(t.c.trace_id.desc()).limit(_LIMIT)
)

_ADD = Statement(insert(t))
_FIND = Statement(select(*_SUMMARY, t.c.events).where(_BY_ID))
_LIST = Statement(_ROOTS)
_LIST_STATUS = {
    # As literals, so that both databases see that the partial index covers all but one.
    status: Statement(_ROOTS.where(t.c.status == literal_column(f"'{status.value}'")))
    for status in TraceStatus
}
_CHILDREN = Statement(
    select(*_SUMMARY).where(t.c.parent_id == bindparam("trace_id")).order_by(t.c.trace_id)
)
_OPEN = Statement(
    select(*_SUMMARY).where(t.c.daemon_id == bindparam("daemon_id"), t.c.ended_at.is_(None))
)
_CLOSE = Statement(
    update(t)
    .where(t.c.trace_id == bindparam("the_trace"), t.c.ended_at.is_(None))
    .values(
        status=bindparam("status"),
        ended_at=bindparam("ended_at"),
        duration_us=bindparam("duration_us"),
        event_count=t.c.event_count + bindparam("more_events", type_=Integer),
        events=t.c.events + bindparam("events"),
    )
)
# The newest trace that is one too many; everything older goes with it.
_SURPLUS = Statement(
    select(t.c.trace_id)
    .order_by(t.c.trace_id.desc())
    .limit(literal_column("1"))
    .offset(bindparam("keep", type_=Integer))
)
_OLDEST = Statement(
    select(t.c.trace_id)
    .where(
        or_(t.c.trace_id < bindparam("before"), t.c.trace_id <= bindparam("surplus")),
        t.c.ended_at.is_not(None),
    )
    .order_by(t.c.trace_id)
    .limit(_LIMIT)
)
_REMOVE = Statement(delete(t).where(_BY_ID))


class SqlTraceRepository:
    """Implements `TraceRepository`."""

    def add(self, tx: Transaction, trace: Trace) -> None:
        """Write a trace with the events it has so far."""
        row = {
            "trace_id": trace.trace_id,
            "parent_id": trace.parent_id,
            "workflow_id": trace.workflow_id,
            "operation": trace.operation,
            "surface": trace.surface,
            "actor": trace.actor,
            "daemon_id": trace.daemon_id,
            "status": trace.status.value,
            "started_at": to_micros(trace.started_at),
            "ended_at": None if trace.ended_at is None else to_micros(trace.ended_at),
            "duration_us": trace.duration_us,
            "event_count": len(trace.events),
            "events": _lines(trace.events),
        }
        sql(tx).run(_ADD, row)

    def close(self, tx: Transaction, trace: Trace) -> bool:
        """Write the end of a trace that `add` opened; return whether it was there and open."""
        assert trace.ended_at is not None, "a closed trace has an end"
        end = {
            "the_trace": trace.trace_id,
            "status": trace.status.value,
            "ended_at": to_micros(trace.ended_at),
            "duration_us": trace.duration_us,
            "more_events": len(trace.events),
            "events": _lines(trace.events),
        }
        return sql(tx).run(_CLOSE, end) > 0

    def find(self, tx: Transaction, trace_id: str) -> Trace | None:
        """Return the trace with its events, or `None`."""
        row = sql(tx).row(_FIND, {"trace_id": trace_id})
        if row is None:
            return None
        *summary, lines = row
        # Not `splitlines`: it would also split at U+2028 and others, which JSON text leaves bare.
        return _trace(tuple(summary), tuple(_event(line) for line in lines.split("\n")[:-1]))

    def list(self, tx: Transaction, status: TraceStatus | None, limit: int) -> Sequence[Trace]:
        """Return root traces, newest first, without their events."""
        statement = _LIST if status is None else _LIST_STATUS[status]
        return [_trace(row) for row in sql(tx).rows(statement, {"limit": limit})]

    def children(self, tx: Transaction, trace_id: str) -> Sequence[Trace]:
        """Return the traces of the work done inside a trace, oldest first, without events."""
        return [_trace(row) for row in sql(tx).rows(_CHILDREN, {"trace_id": trace_id})]

    def open_of(self, tx: Transaction, daemon_id: str) -> Sequence[Trace]:
        """Return the traces a process left open, without their events."""
        return [_trace(row) for row in sql(tx).rows(_OPEN, {"daemon_id": daemon_id})]

    def prune(self, tx: Transaction, *, before: datetime, keep: int, most: int) -> int:
        """Delete up to `most` of the oldest finished traces past either limit."""
        db = sql(tx)
        surplus = db.row(_SURPLUS, {"keep": keep})
        limits = {
            "before": first_id(before),
            "surplus": surplus[0] if surplus else "",
            "limit": most,
        }
        doomed = db.rows(_OLDEST, limits)
        for (trace_id,) in doomed:
            db.run(_REMOVE, {"trace_id": trace_id})
        return len(doomed)


def _lines(events: Sequence[TraceEvent]) -> str:
    """Return events as lines; payloads are JSON already and are put in as they are."""
    return "".join(
        f'[{event.sequence},"{event.type.value}",{to_micros(event.at)},'
        f'"{event.status or ""}",{_or_null(event.duration_us)},{event.payload}]\n'
        for event in events
    )


def _or_null(number: int | None) -> int | str:
    return "null" if number is None else number


def _event(line: str) -> TraceEvent:
    sequence, kind, at, status, duration_us, payload = json.loads(line)
    return TraceEvent(
        sequence,
        EventType(kind),
        from_micros(at),
        dump(payload),
        TraceStatus(status) if status else None,
        duration_us,
    )


def _trace(row: Row, events: tuple[TraceEvent, ...] = ()) -> Trace:
    named: dict[str, Any] = {
        column.name: value for column, value in zip(_SUMMARY, row, strict=True)
    }
    ended_at = named["ended_at"]
    named["status"] = TraceStatus(named["status"])
    named["started_at"] = from_micros(named["started_at"])
    named["ended_at"] = None if ended_at is None else from_micros(ended_at)
    return Trace(**named, events=events)
