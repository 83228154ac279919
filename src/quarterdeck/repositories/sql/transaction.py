"""Statements written once in SQLAlchemy Core, compiled once a database, run by its driver.

The driver is used directly because SQLAlchemy's execution layer costs more than the tool
call it would serve; the statements stay portable and typed by the tables.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import ClauseElement
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.engine import Dialect

from quarterdeck.ports.store import Transaction

Row = tuple[Any, ...]

SQLITE: Dialect = sqlite.dialect(paramstyle="named")
POSTGRES: Dialect = psycopg.dialect()

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Statement:
    """One statement whose parameters are named with `bindparam`."""

    def __init__(self, clause: ClauseElement) -> None:
        """Compile lazily: a process speaks one dialect."""
        self._clause = clause
        self._compiled: dict[str, tuple[str, dict[str, object]]] = {}

    def bound(
        self, dialect: Dialect, params: Mapping[str, object]
    ) -> tuple[str, Mapping[str, object]]:
        """Return the SQL for `dialect`, and all its parameters."""
        compiled = self._compiled.get(dialect.name) or self._compile(dialect)
        text, constants = compiled
        return text, {**constants, **params} if constants else params

    def _compile(self, dialect: Dialect) -> tuple[str, dict[str, object]]:
        compiled = self._clause.compile(dialect=dialect)
        # A dialect may add parameters of its own: SQLite's LIMIT brings an OFFSET of 0.
        constants = {
            name: value for name, value in (compiled.params or {}).items() if value is not None
        }
        self._compiled[dialect.name] = str(compiled), constants
        return self._compiled[dialect.name]


class Cursor(Protocol):
    """What both drivers' cursors have in common."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...  # noqa: ANN401 - a row of any shape
    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """What both drivers' connections have in common."""

    def execute(self, query: Any, params: Any = ..., /) -> Cursor: ...  # noqa: ANN401 - as the drivers declare it


class SqlTransaction:
    """A driver connection inside a transaction."""

    __slots__ = ("_connection", "dialect")

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        """The store that made this owns the connection and ends the transaction."""
        self._connection = connection
        self.dialect = dialect

    def run(self, statement: Statement, params: Mapping[str, object]) -> int:
        """Run a statement; return how many rows it changed."""
        return self._connection.execute(*statement.bound(self.dialect, params)).rowcount

    def row(self, statement: Statement, params: Mapping[str, object]) -> Row | None:
        """Return the first row, or `None`."""
        return self._connection.execute(*statement.bound(self.dialect, params)).fetchone()

    def rows(self, statement: Statement, params: Mapping[str, object]) -> Sequence[Row]:
        """Return all rows."""
        return self._connection.execute(*statement.bound(self.dialect, params)).fetchall()


def sql(tx: Transaction) -> SqlTransaction:
    """Return the transaction as what the SQL stores hand out."""
    assert isinstance(tx, SqlTransaction), "SQL repositories need a SQL store"
    return tx


def to_micros(moment: datetime) -> int:
    """Return a time as it is stored."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(stored: int) -> datetime:
    """Return a stored time."""
    return _EPOCH + timedelta(microseconds=stored)


def stored_moment(moment: datetime | None) -> int | None:
    """Return a time that may be missing as it is stored."""
    return None if moment is None else to_micros(moment)


def read_moment(stored: int | None) -> datetime | None:
    """Return a stored time that may be missing."""
    return None if stored is None else from_micros(stored)
