"""The database of an archive, before it is let in: it must be whole, and made as ours are."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from quarterdeck.errors import QuarterdeckError
from quarterdeck.repositories.sql import migrate
from quarterdeck.repositories.sql.copies import opened

_OBJECTS = "SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"
_VIRTUAL = "SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'"


def problem_of(path: Path, revision: str, folder: Path) -> str | None:
    """Return what is wrong with a database file that should be at `revision`.

    Its tables are compared with those of a new database, made in `folder`: triggers, views
    and tables of others have no place in ours.
    """
    try:
        with opened(path) as connection:
            found = migrate.sqlite_revision(path)
            if found != revision:
                return f"has a database of revision {found}, not {revision}"
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return "has a damaged database"
            if _shape(connection) != _own_shape(revision, folder):
                return "has a database with other tables than Quarterdeck's"
            return _odd_form(connection)
    except QuarterdeckError:
        return "has a damaged database"


def bring_up(path: Path) -> None:
    """Bring a sound file to this program's revision."""
    if migrate.sqlite_revision(path) != migrate.HEAD:
        migrate.upgrade_copy(path)


def _odd_form(connection: sqlite3.Connection) -> str | None:
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    with closing(sqlite3.connect(":memory:")) as ours:
        (expected,) = ours.execute("PRAGMA page_size").fetchone()
    (encoding,) = connection.execute("PRAGMA encoding").fetchone()
    return None if (size, encoding) == (expected, "UTF-8") else "has a database of another form"


def _own_shape(revision: str, folder: Path) -> set[tuple[object, ...]]:
    fresh = folder / f"fresh-{revision}.db"
    migrate.upgrade_copy(fresh, revision)
    with opened(fresh) as connection:
        return _shape(connection)


def _shape(connection: sqlite3.Connection) -> set[tuple[object, ...]]:
    """Return what the schema says, apart from how its statements are spelled."""
    return set(_parts(connection))


def _parts(connection: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    objects = connection.execute(_OBJECTS).fetchall()
    yield from objects
    yield from connection.execute(_VIRTUAL).fetchall()
    for kind, name, _ in objects:
        if kind == "table":
            columns = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,)).fetchall()
            yield from ((name, *column) for column in columns)
