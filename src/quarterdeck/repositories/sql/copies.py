"""A database as one SQLite file, whatever it lives in: what an archive holds of it.

Rows of living processes are nobody else's state, and who may come in is decided now and not when
a copy was made: it would let in again whom somebody has shut out since. A copy has neither, and a
database that is replaced keeps its own.
"""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, Protocol

from sqlalchemy import Integer, Table, func, select
from sqlalchemy.sql.expression import literal_column

from quarterdeck.domain.archive import Contents
from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.archives import CloseTraces, Progress
from quarterdeck.repositories.sql.tables import (
    commands_table,
    daemons_table,
    memory_table,
    metadata,
    tokens_table,
    traces_table,
)
from quarterdeck.repositories.sql.transaction import (
    SQLITE,
    SqlTransaction,
    Statement,
    from_micros,
)

KEPT: Sequence[Table] = (commands_table, daemons_table, tokens_table)
# The search index follows from the memory.
COPIED: Sequence[Table] = [table for table in metadata.sorted_tables if table not in KEPT]

_COUNTS = {table.name: Statement(select(func.count()).select_from(table)) for table in COPIED}
_NEWEST = Statement(
    select(memory_table.c.stored_at)
    .order_by(memory_table.c.seq.desc())
    .limit(literal_column("1", Integer))
)
_LEFT_OPEN = Statement(
    select(traces_table.c.daemon_id).where(traces_table.c.ended_at.is_(None)).distinct()
)


class Copies(Protocol):
    """A database that can be copied to a file while it is used, and replaced by one."""

    @property
    def kind(self) -> Literal["sqlite", "postgresql"]:
        """Return which database it is."""
        ...

    def contents(self) -> Contents:
        """Return how much the database holds."""
        ...

    def copy_to(self, target: Path, tell: Progress) -> None:
        """Write a snapshot to a new file; others may write meanwhile."""
        ...

    def replace_with(self, source: Path, prepare: Callable[[], None], tell: Progress) -> None:
        """Make the database what `source` holds, in one transaction.

        `prepare` runs before anything is changed; once more if somebody has written since, while
        nobody can.
        """
        ...


def contents_of(tx: SqlTransaction) -> Contents:
    """Return how much the database of a transaction holds."""
    counts: dict[str, int] = {}
    for name, count in _COUNTS.items():
        row = tx.row(count, {})
        assert row is not None, "a count always has one row"
        counts[name] = row[0]
    newest = tx.row(_NEWEST, {})
    return Contents(counts=counts, newest_memory_at=from_micros(newest[0]) if newest else None)


def contents_of_file(path: Path) -> Contents:
    """Return how much a file holds."""
    with opened(path) as connection:
        return contents_of(SqlTransaction(connection, SQLITE))


def settle(path: Path, close: CloseTraces) -> None:
    """Close the traces that were open when the copy was made: nobody will go on with them."""
    with opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        tx = SqlTransaction(connection, SQLITE)
        for (daemon_id,) in tx.rows(_LEFT_OPEN, {}):
            close(tx, daemon_id)
        connection.execute("COMMIT")


def lone_file(path: Path) -> None:
    """Make a new copy whole without a log beside it, and without what its source keeps."""
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        for table in KEPT:
            connection.execute(f"DELETE FROM {table.name}")  # noqa: S608 - our own name


@contextmanager
def opened(path: Path, *, timeout: float = 10) -> "Generator[sqlite3.Connection]":
    """Open a file, in autocommit; what SQLite cannot do is the storage's failure."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=timeout)) as connection:
            # Functions that a foreign schema might call are none of ours.
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
    except sqlite3.Error as error:
        raise StorageUnavailable(str(error)) from error
