"""Processes that own rows, in SQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select, update

from quarterdeck.ports.repositories import SeenDaemon
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import daemons_table as t
from quarterdeck.repositories.sql.transaction import Statement, from_micros, sql, to_micros

_ADD = Statement(insert(t))
_LIST = Statement(select(t.c.daemon_id).where(t.c.node_id == bindparam("node_id")))
_FIND = Statement(
    select(t.c.node_id, t.c.host, t.c.seen_at).where(t.c.daemon_id == bindparam("daemon_id"))
)
_SEE = Statement(
    update(t)
    .where(t.c.daemon_id == bindparam("the_daemon"))
    .values(seen_at=bindparam("now", type_=t.c.seen_at.type))
)
_REMOVE = Statement(delete(t).where(t.c.daemon_id == bindparam("daemon_id")))


class SqlDaemonRepository:
    """Implements `DaemonRepository`."""

    def add(self, tx: Transaction, daemon_id: str, node_id: str, host: str, now: datetime) -> None:
        """Note that a process has started."""
        row = {
            "daemon_id": daemon_id,
            "node_id": node_id,
            "started_at": to_micros(now),
            "host": host,
            "seen_at": to_micros(now),
        }
        sql(tx).run(_ADD, row)

    def find(self, tx: Transaction, daemon_id: str) -> SeenDaemon | None:
        """Return a process that has not been seen to end, or `None`."""
        row = sql(tx).row(_FIND, {"daemon_id": daemon_id})
        if row is None:
            return None
        node_id, host, seen_at = row
        return SeenDaemon(daemon_id, node_id, host, from_micros(seen_at))

    def see(self, tx: Transaction, daemon_id: str, now: datetime) -> None:
        """Note that a process is alive."""
        sql(tx).run(_SEE, {"the_daemon": daemon_id, "now": to_micros(now)})

    def list(self, tx: Transaction, node_id: str) -> Sequence[str]:
        """Return the processes of this node that have not been seen to end."""
        return [daemon_id for (daemon_id,) in sql(tx).rows(_LIST, {"node_id": node_id})]

    def remove(self, tx: Transaction, daemon_id: str) -> None:
        """Note that a process has ended; safe to repeat."""
        sql(tx).run(_REMOVE, {"daemon_id": daemon_id})
