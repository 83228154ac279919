"""Processes that own rows, in SQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select

from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import daemons_table as t
from quarterdeck.repositories.sql.transaction import Statement, sql, to_micros

_ADD = Statement(insert(t))
_LIST = Statement(select(t.c.daemon_id).where(t.c.node_id == bindparam("node_id")))
_REMOVE = Statement(delete(t).where(t.c.daemon_id == bindparam("daemon_id")))


class SqlDaemonRepository:
    """Implements `DaemonRepository`."""

    def add(self, tx: Transaction, daemon_id: str, node_id: str, now: datetime) -> None:
        """Note that a process has started."""
        row = {"daemon_id": daemon_id, "node_id": node_id, "started_at": to_micros(now)}
        sql(tx).run(_ADD, row)

    def list(self, tx: Transaction, node_id: str) -> Sequence[str]:
        """Return the processes of this node that have not been seen to end."""
        return [daemon_id for (daemon_id,) in sql(tx).rows(_LIST, {"node_id": node_id})]

    def remove(self, tx: Transaction, daemon_id: str) -> None:
        """Note that a process has ended; safe to repeat."""
        sql(tx).run(_REMOVE, {"daemon_id": daemon_id})
