"""A PostgreSQL database, copied row by row from a snapshot and replaced in one transaction."""

import json
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import psycopg
from psycopg import sql
from sqlalchemy import Table, insert, select

from quarterdeck.domain.archive import Contents
from quarterdeck.domain.search import entry_tokens
from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.archives import Progress
from quarterdeck.repositories.sql import migrate
from quarterdeck.repositories.sql.copies import COPIED, contents_of, lone_file, opened
from quarterdeck.repositories.sql.memory_index import SQLITE_SPELLING, MemoryIndex
from quarterdeck.repositories.sql.tables import memory_table
from quarterdeck.repositories.sql.transaction import (
    POSTGRES,
    SQLITE,
    Row,
    SqlTransaction,
    Statement,
)

Connection = psycopg.Connection[tuple[Any, ...]]

ROWS = 1000
_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_ALL = {table.name: Statement(select(table)) for table in COPIED}
_ADD = {table.name: Statement(insert(table)) for table in COPIED}


class PostgresCopies:
    """Implements `Copies` on a server; a copy is indexed anew, so that it has the other's form."""

    kind: Literal["postgresql"] = "postgresql"

    def __init__(self, url: str) -> None:
        """`url` is a libpq connection string."""
        self._url = url

    def contents(self) -> Contents:
        """Return how much the database holds."""
        with _connected(self._url) as connection:
            return contents_of(SqlTransaction(connection, POSTGRES))

    def copy_to(self, target: Path, tell: Progress) -> None:
        """Copy the rows of one snapshot; writers go on."""
        migrate.upgrade_copy(target)
        with _connected(self._url) as source, opened(target) as copy:
            source.execute(_SNAPSHOT)
            rows = _Counted("Copying the database", source, tell)
            copy.execute("PRAGMA synchronous = OFF")  # it is hashed, packed and thrown away
            copy.execute("BEGIN")
            for table in COPIED:
                rows.copy(table, lambda batch, table=table: _write_sqlite(copy, table, batch))
            _carry_over_sequence(source, copy)
            copy.execute("COMMIT")
        lone_file(target)

    def replace_with(self, source: Path, prepare: Callable[[], None], tell: Progress) -> None:
        """Replace all rows; others read the old ones until the commit, and wait to write."""
        with opened(source) as new, _connected(self._url) as live:
            migrate.hold_off_upgrades(live)
            for table in COPIED:
                live.execute(_named("LOCK TABLE {} IN EXCLUSIVE MODE", table.name))
            prepare()
            live.execute("DELETE FROM memory_tokens")
            rows = _Counted("Replacing the database", new, tell)
            for table in reversed(COPIED):
                live.execute(_named("DELETE FROM {}", table.name))
            for table in COPIED:
                rows.copy(table, lambda batch, table=table: _write_postgres(live, table, batch))
            _carry_back_sequence(new, live)


class _Counted:
    """Reads tables in batches, telling how many rows of all have gone by."""

    def __init__(self, what: str, source: Connection | sqlite3.Connection, tell: Progress) -> None:
        self._what, self._source, self._tell = what, source, tell
        dialect = SQLITE if isinstance(source, sqlite3.Connection) else POSTGRES
        self._total = sum(contents_of(SqlTransaction(source, dialect)).counts.values())
        self._done = 0

    def copy(self, table: Table, write: Callable[[list[Row]], None]) -> None:
        for batch in self._batches(table):
            write(batch)
            self._done += len(batch)
            self._tell(self._what, self._done, self._total)

    def _batches(self, table: Table) -> Iterator[list[Row]]:
        source, statement = self._source, _ALL[table.name]
        if isinstance(source, sqlite3.Connection):
            cursor = source.execute(*statement.bound(SQLITE, {}))
            while batch := cursor.fetchmany(ROWS):
                yield batch
            return
        # Named, so that the server hands it out bit by bit.
        with source.cursor(name="quarterdeck") as cursor:
            cursor.execute(sql.SQL(statement.bound(POSTGRES, {})[0]))  # pyright: ignore[reportArgumentType] - our own text
            while batch := cursor.fetchmany(ROWS):
                yield batch


def _write_sqlite(copy: sqlite3.Connection, table: Table, batch: list[Row]) -> None:
    tx, names = SqlTransaction(copy, SQLITE), [column.name for column in table.columns]
    for row in batch:
        tx.run(_ADD[table.name], dict(zip(names, row, strict=True)))
    if table is memory_table:
        index = MemoryIndex(SQLITE_SPELLING)
        for row in batch:
            index.add(tx, row[0], _tokens(row))


def _write_postgres(live: Connection, table: Table, batch: list[Row]) -> None:
    columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table.name), columns)
    with live.cursor() as cursor:
        with cursor.copy(into) as copy:
            for row in batch:
                copy.write_row(row)
        if table is memory_table:
            with cursor.copy("COPY memory_tokens (seq, tokens) FROM STDIN") as copy:
                for row in batch:
                    copy.write_row((row[0], _tokens(row)))


def _tokens(row: Row) -> list[str]:
    named = dict(zip([column.name for column in memory_table.columns], row, strict=True))
    return entry_tokens(named["namespace"], named["key"], json.loads(named["value"]))


def _carry_over_sequence(source: Connection, copy: sqlite3.Connection) -> None:
    """Keep the promise that a row's number is never used twice."""
    row = source.execute("SELECT last_value FROM memory_seq").fetchone()
    assert row is not None, "a sequence has one row"
    copy.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'memory'", row)


def _carry_back_sequence(new: sqlite3.Connection, live: Connection) -> None:
    row = new.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memory'").fetchone()
    if row is not None and row[0] > 0:
        live.execute(
            "SELECT setval('memory_seq', greatest(%s, (SELECT last_value FROM memory_seq)))", row
        )


def _named(statement: str, table: str) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(table))  # pyright: ignore[reportArgumentType] - our own text


@contextmanager
def _connected(url: str) -> Generator[Connection]:
    try:
        with migrate.connected_postgres(url) as connection:
            yield connection
    except psycopg.Error as error:
        raise StorageUnavailable(type(error).__name__) from error
