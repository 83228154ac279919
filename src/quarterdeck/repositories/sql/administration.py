"""The databases for those who keep them: status, upgrade, a check of what is stored."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.database import DatabaseState, DatabaseStatus
from quarterdeck.repositories.sql import migrate

MOST_PROBLEMS = 3
# Somebody waits at a terminal; a server that is there answers at once.
CONNECT_TIMEOUT_SECONDS = 5


class SqliteDatabase:
    """Implements `Database` on one file."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist."""
        self._path = path

    def status(self) -> DatabaseStatus:
        """Return how far the file is."""
        revision = migrate.sqlite_revision(self._path)
        state = _state(revision)
        return DatabaseStatus("sqlite", str(self._path), state, revision, migrate.HEAD)

    def upgrade(self) -> None:
        """Bring the file to this program's revision, after a copy of it."""
        migrate.prepare_sqlite(self._path)

    def stored_bytes(self) -> int:
        """Return the size of the file and of its write-ahead log."""
        parts = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def problems(self) -> Sequence[str]:
        """Return what SQLite's own check finds."""
        if not self._path.exists():
            return ()
        try:
            with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=rw", uri=True)) as connection:
                connection.execute("PRAGMA query_only = ON")
                rows = connection.execute(f"PRAGMA quick_check({MOST_PROBLEMS})").fetchall()
        except sqlite3.Error as error:
            return (str(error),)
        return tuple(text for (text,) in rows if text != "ok")


class PostgresDatabase:
    """Implements `Database` on a server."""

    def __init__(self, url: str, *, place: str) -> None:
        """`place` is the URL as people may see it."""
        self._url = url
        self._place = place

    def status(self) -> DatabaseStatus:
        """Return how far the schema is."""
        revision = migrate.postgres_revision(_impatient(self._url))
        return DatabaseStatus("postgresql", self._place, _state(revision), revision, migrate.HEAD)

    def upgrade(self) -> None:
        """Bring the schema to this program's revision."""
        migrate.upgrade_postgres(self._url)

    def stored_bytes(self) -> int:
        """Return what the server says of the whole database, of which we may be a part."""
        return migrate.postgres_bytes(_impatient(self._url))

    def problems(self) -> Sequence[str]:
        """Return nothing: PostgreSQL checks its pages itself, when it reads them."""
        return ()


def _state(revision: str | None) -> DatabaseState:
    if revision is None:
        return "new"
    if revision == migrate.HEAD:
        return "current"
    return "behind" if revision in migrate.REVISIONS else "ahead"


def _impatient(url: str) -> str:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        given = conninfo_to_dict(url)
    except ProgrammingError as error:
        # Not the error's own text: it may quote the password.
        raise StorageUnavailable("the database URL is not one that PostgreSQL takes") from error
    return make_conninfo(url, **({"connect_timeout": CONNECT_TIMEOUT_SECONDS} | given))
