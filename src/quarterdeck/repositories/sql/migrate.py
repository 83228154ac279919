"""Bringing a database to this program's schema, and refusing one from the future.

Alembic takes longer to import than a server takes to start, so the stored revision is read
first and Alembic only comes in when there is something to do. psycopg, which the embedded database
does not need, comes in with PostgreSQL.
"""

import fcntl
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.errors import DatabaseAhead, DatabaseBehind, StorageUnavailable

if TYPE_CHECKING:
    import psycopg

# All revisions this program knows, oldest first; a test compares them with the scripts.
REVISIONS = ("0001", "0002", "0003", "0004")
HEAD = REVISIONS[-1]
KEPT_COPIES = 3
CONNECT_SECONDS = 10

_MIGRATIONS = Path(__file__).parent / "migrations"
# Any number does, as long as every Quarterdeck takes the same one.
_ADVISORY_LOCK = 7_420_001


def prepare_sqlite(path: Path) -> None:
    """Create or upgrade the database file; an older file is copied to `backups/` first."""
    if sqlite_revision(path) == HEAD:
        return
    with _alone(path.with_suffix(".lock")):
        # Another process may have done it while this one waited.
        found = sqlite_revision(path)
        _refuse_newer(found)
        if found == HEAD:
            return
        if found is not None:
            copy_sqlite(path, path.parent / "backups", label=found)
        _create_private(path)
        _use_write_ahead_log(path)
        # Autocommit in the driver, so that the BEGIN below covers the whole migration.
        from sqlalchemy.exc import OperationalError

        try:
            _upgrade("sqlite://", lambda: sqlite3.connect(path, isolation_level=None))
        except OperationalError as error:
            raise StorageUnavailable(_sqlite_reason(error)) from error


def _sqlite_reason(error: Exception) -> str:
    # SQLAlchemy's own text repeats the statement; the driver's says what happened.
    return str(getattr(error, "orig", error))


def sqlite_revision(path: Path) -> str | None:
    """Return the revision of a database file; `None` when it is new."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(path)) as connection:
            named = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
            if connection.execute(named).fetchone() is None:
                return None
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return row[0] if row else None
    except sqlite3.Error as error:
        raise StorageUnavailable(str(error)) from error


def copy_sqlite(path: Path, folder: Path, *, label: str) -> Path:
    """Copy a database that may be in use; keep the newest few copies."""
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / f"{path.stem}-{label}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.db"
    _create_private(target)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    for old in sorted(folder.glob(f"{path.stem}-*.db"), key=lambda file: file.stat().st_mtime)[
        :-KEPT_COPIES
    ]:
        old.unlink()
    return target


def check_postgres(url: str) -> None:
    """Refuse a PostgreSQL database that is not at this program's revision."""
    found = postgres_revision(url)
    _refuse_newer(found)
    if found != HEAD:
        raise DatabaseBehind(found, HEAD)


def postgres_revision(url: str) -> str | None:
    """Return the revision of a PostgreSQL database; `None` when it is new."""
    with connected_postgres(url) as connection:
        row = connection.execute("SELECT to_regclass('alembic_version')").fetchone()
        if row is None or row[0] is None:
            return None
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return found[0] if found else None


def postgres_bytes(url: str) -> int:
    """Return how much room a PostgreSQL database takes."""
    with connected_postgres(url) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None, "the function always has an answer"
        return row[0]


@contextmanager
def connected_postgres(url: str) -> "Generator[psycopg.Connection[tuple[Any, ...]]]":
    """Connect for a moment, in one transaction."""
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
            yield connection
    except psycopg.OperationalError as error:
        # libpq's text may repeat the connection string, and with it a password.
        raise StorageUnavailable("PostgreSQL cannot be reached") from error


def upgrade_postgres(url: str) -> str | None:
    """Bring a PostgreSQL database to this program's revision; return the one it had."""
    import psycopg

    found = postgres_revision(url)
    _refuse_newer(found)
    if found != HEAD:
        _upgrade(
            "postgresql+psycopg://", lambda: psycopg.connect(url, connect_timeout=CONNECT_SECONDS)
        )
    return found


def hold_off_upgrades(connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
    """Keep upgrades of a PostgreSQL database waiting until the transaction ends."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ADVISORY_LOCK,))


def _refuse_newer(found: str | None) -> None:
    if found is not None and found not in REVISIONS:
        raise DatabaseAhead(found, HEAD)


def upgrade_copy(path: Path, revision: str | None = None) -> None:
    """Bring a file that nobody else uses to a revision, by default to this program's."""
    _create_private(path)
    _upgrade("sqlite://", lambda: sqlite3.connect(path, isolation_level=None), revision or HEAD)


def _upgrade(dialect: str, connect: Callable[[], object], revision: str = "head") -> None:
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, text

    # The drivers connect: SQLAlchemy would read paths with a `?` and some of libpq's URLs wrongly.
    engine = create_engine(dialect, creator=connect)
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
            else:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
    finally:
        engine.dispose()


def _create_private(path: Path) -> None:
    """Make the file ours alone before anything is written into it."""
    path.touch(mode=0o600, exist_ok=True)


def _use_write_ahead_log(path: Path) -> None:
    # Here, where one process is alone with the file: the change is not waited for under a lock,
    # so a store that made it could find the database locked by its own companions.
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


@contextmanager
def _alone(lock: Path) -> Generator[None]:
    with lock.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
