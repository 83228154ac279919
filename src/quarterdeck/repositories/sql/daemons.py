"""Processes that own rows, in SQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update

from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import daemons_table as t
from quarterdeck.repositories.sql.transaction import Statement, sql, to_micros

_ADD = Statement(insert(t))
_RUNNING = Statement(
    select(t.c.daemon_id).where(t.c.node_id == bindparam("node_id"), t.c.ended_at.is_(None))
)
_END = Statement(
    update(t).where(t.c.daemon_id == bindparam("the_daemon")).values(ended_at=bindparam("ended_at"))
)


class SqlDaemonRepository:
    """Implements `DaemonRepository`."""

    def add(self, tx: Transaction, daemon_id: str, node_id: str, now: datetime) -> None:
        """Note that a process has started."""
        row = {
            "daemon_id": daemon_id,
            "node_id": node_id,
            "started_at": to_micros(now),
            "ended_at": None,
        }
        sql(tx).run(_ADD, row)

    def running(self, tx: Transaction, node_id: str) -> Sequence[str]:
        """Return the processes of this node that have not been seen to end."""
        return [daemon_id for (daemon_id,) in sql(tx).rows(_RUNNING, {"node_id": node_id})]

    def end(self, tx: Transaction, daemon_id: str, now: datetime) -> None:
        """Note that a process has ended."""
        sql(tx).run(_END, {"the_daemon": daemon_id, "ended_at": to_micros(now)})
