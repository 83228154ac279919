"""The embedded database, copied and replaced page by page while other processes use it."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from sqlalchemy import Table

from quarterdeck.domain.archive import Contents
from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.archives import Progress
from quarterdeck.repositories.sql.copies import KEPT, contents_of_file, lone_file, opened

# 8 MiB at the default page size: often enough to show progress, and to be stopped.
PAGES = 2048
# How long somebody else's transaction is waited for; ours take milliseconds.
BUSY_SECONDS = 30


class SqliteCopies:
    """Implements `Copies` on one file in WAL mode, where readers and the writer do not wait."""

    kind: Literal["sqlite"] = "sqlite"

    def __init__(self, path: Path) -> None:
        """`path` must have been migrated."""
        self._path = path

    def contents(self) -> Contents:
        """Return how much the file holds."""
        return contents_of_file(self._path)

    def copy_to(self, target: Path, tell: Progress) -> None:
        """Copy one snapshot; writers go on, and only the write-ahead log grows meanwhile."""
        target.touch(mode=0o600)
        with opened(self._path) as source, opened(target) as copy:
            # Pinned by a read: a copy in steps would begin anew whenever another process writes.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            _copy(source, copy, lambda done, total: tell("Copying the database", done, total))
            source.rollback()
        lone_file(target)

    def replace_with(self, source: Path, prepare: Callable[[], None], tell: Progress) -> None:
        """Write all pages in one transaction of SQLite's own; connections of others stay good."""
        with opened(source) as new, opened(self._path) as live, opened(self._path) as present:
            _wait_for_the_disk(live)
            before = _version(present)
            prepare()
            is_ours = False

            def step(done: int, total: int) -> None:
                nonlocal is_ours
                if not is_ours:
                    # The first pages are written and not committed: from here on, nobody else
                    # can write. What changes in `new` now is carried over by SQLite.
                    is_ours = True
                    if _version(present) != before:
                        prepare()
                    for table in KEPT:
                        _keep(table, present, new)
                tell("Replacing the database", done, total)

            _copy(new, live, step)
            # The log is as large as the database now; this fails when somebody reads, and the
            # next one succeeds.
            live.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _copy(
    source: sqlite3.Connection, target: sqlite3.Connection, step: Callable[[int, int], None]
) -> None:
    give_up_at = time.monotonic() + BUSY_SECONDS

    def stepped(status: int, remaining: int, total: int) -> None:
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            if time.monotonic() > give_up_at:
                raise StorageUnavailable("another process holds the database")
            return
        step(total - remaining, total)

    # Two steps at least, so that there is a moment before everything is committed.
    (pages,) = source.execute("PRAGMA page_count").fetchone()
    source.backup(target, pages=min(PAGES, pages // 2), progress=stepped, sleep=0.05)


def _version(connection: sqlite3.Connection) -> int:
    """Return a number that is another one when somebody else has committed since."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return version


def _wait_for_the_disk(live: sqlite3.Connection) -> None:
    for pragma in ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON"):
        live.execute(f"PRAGMA {pragma}")


def _keep(table: Table, present: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Let a table of the new state be as it is now."""
    name, names = table.name, ", ".join(column.name for column in table.columns)
    rows: Sequence[tuple[object, ...]] = present.execute(
        f"SELECT {names} FROM {name}"  # noqa: S608 - our own names
    ).fetchall()
    new.execute(f"DELETE FROM {name}")  # noqa: S608 - our own name
    for row in rows:
        marks = ", ".join("?" * len(row))
        new.execute(f"INSERT INTO {name} ({names}) VALUES ({marks})", row)  # noqa: S608 - the same
