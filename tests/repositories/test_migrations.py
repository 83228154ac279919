"""Databases are created, upgraded after a copy, refused when newer, and never left half-way."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from textwrap import dedent, indent
from urllib.parse import quote

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine
from sqlalchemy.engine import make_url

from quarterdeck.errors import DatabaseAhead, DatabaseBehind, StorageUnavailable
from quarterdeck.repositories.sql import migrate
from quarterdeck.repositories.sql.tables import metadata
from tests.support.children import run_at_once
from tests.support.postgres import PostgresServer
from tests.support.stores import sqlite_database

FAKE_PASSWORD = "not-a-real-" + "password"
SCRIPTS = Path(migrate.__file__).parent / "migrations"
NOW, NEXT = migrate.HEAD, "9000"
NEXT_MIGRATION = f"""
from alembic import op

revision = "{NEXT}"
down_revision = "{NOW}"

def upgrade():
    op.execute("CREATE TABLE later (id integer)")
{{body}}
"""
NextVersion = Callable[..., None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "quarterdeck.db"


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NextVersion:
    """Become the next version of the program, which knows one migration more."""

    def upgrade_program(body: str = "") -> None:
        scripts = tmp_path / "migrations"
        shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
        script = NEXT_MIGRATION.format(body=indent(dedent(body), "    "))
        (scripts / "versions" / f"m{NEXT}_later.py").write_text(script, encoding="utf-8")
        monkeypatch.setattr(migrate, "_MIGRATIONS", scripts)
        monkeypatch.setattr(migrate, "REVISIONS", (*migrate.REVISIONS, NEXT))
        monkeypatch.setattr(migrate, "HEAD", NEXT)

    return upgrade_program


def stamp_sqlite(path: Path, revision: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])


def tables_in(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name for (name,) in rows}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_at_the_newest_revision_and_private(path: Path) -> None:
    umask = os.umask(0)
    try:
        migrate.prepare_sqlite(path)
    finally:
        os.umask(umask)
    assert migrate.sqlite_revision(path) == migrate.HEAD
    assert mode_of(path) == 0o600
    assert not (path.parent / "backups").exists()


def test_preparing_again_changes_nothing(path: Path) -> None:
    migrate.prepare_sqlite(path)
    before = path.read_bytes()
    migrate.prepare_sqlite(path)
    assert path.read_bytes() == before


def test_an_empty_file_left_by_a_crash_is_prepared_like_a_new_one(path: Path) -> None:
    path.touch()
    migrate.prepare_sqlite(path)
    assert migrate.sqlite_revision(path) == migrate.HEAD


def test_a_home_with_an_odd_name_is_prepared(tmp_path: Path) -> None:
    path = tmp_path / "50% of ünïcode? #1" / "quarterdeck.db"
    path.parent.mkdir()
    migrate.prepare_sqlite(path)
    assert migrate.sqlite_revision(path) == migrate.HEAD


def test_the_program_lists_every_revision_that_has_a_script() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert [script.revision for script in scripts][::-1] == list(migrate.REVISIONS)
    assert migrate.REVISIONS[-1] == migrate.HEAD


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    # The search index is made by hand, differently on each database.
    return kind != "table" or not str(name).startswith("memory_tokens")


def differences(engine: Engine) -> list[object]:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_ours})
        return list(compare_metadata(context, metadata))


def test_migrations_and_tables_agree_on_sqlite(path: Path, tmp_path: Path) -> None:
    migrate.prepare_sqlite(path)
    declared = tmp_path / "declared.db"
    for database in (path, declared):
        engine = create_engine(f"sqlite:///{database}")
        metadata.create_all(engine)
        assert differences(engine) == []
        engine.dispose()
    assert sqlite_definitions(path) == sqlite_definitions(declared)


def sqlite_definitions(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, tbl_name, sql FROM sqlite_master").fetchall()
    return {
        name: " ".join(sql.split()).replace("!=", "<>")
        for name, table, sql in rows
        if table in metadata.tables and sql
    }


def test_migrations_and_tables_agree_on_postgresql(
    postgres_url: str, postgres_server: PostgresServer
) -> None:
    migrate.upgrade_postgres(postgres_url)
    with postgres_server.empty_database() as declared:
        for url in (postgres_url, declared):
            engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
            metadata.create_all(engine)
            assert differences(engine) == []
            engine.dispose()
        assert postgres_definitions(postgres_url) == postgres_definitions(declared)


def postgres_definitions(url: str) -> list[tuple[object, ...]]:
    tables = list(metadata.tables)
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default"
            " FROM information_schema.columns WHERE table_name = ANY(%s) ORDER BY 1, 2",
            [tables],
        ).fetchall()
        indexes = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s) ORDER BY 1",
            [tables],
        ).fetchall()
    assert columns
    assert indexes
    return columns + indexes


async def test_an_older_file_is_copied_before_it_is_upgraded(
    path: Path, next_version: NextVersion
) -> None:
    database = sqlite_database(path)
    await database.keep("precious")
    # The store stays open: the newest write is still in the log beside the file.
    next_version()
    migrate.prepare_sqlite(path)
    await database.store.close()

    assert migrate.sqlite_revision(path) == NEXT
    assert "later" in tables_in(path)
    (copy,) = (path.parent / "backups").iterdir()
    assert copy.name.startswith(f"quarterdeck-{NOW}-")
    assert (mode_of(copy.parent), mode_of(copy)) == (0o700, 0o600)
    assert migrate.sqlite_revision(copy) == NOW
    assert "later" not in tables_in(copy)
    for file in (path, copy):
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("SELECT key FROM memory").fetchall() == [("precious",)]


def test_only_the_newest_copies_are_kept(path: Path) -> None:
    migrate.prepare_sqlite(path)
    folder = path.parent / "backups"
    copies = list[Path]()
    for number in range(5):
        copy = migrate.copy_sqlite(path, folder, label=f"{number:04}")
        os.utime(copy, (number, number))
        copies.append(copy)
    newest = migrate.copy_sqlite(path, folder, label="9999")
    assert sorted(folder.iterdir()) == sorted([*copies[3:], newest])


def test_a_newer_file_is_refused_and_left_untouched(path: Path) -> None:
    migrate.prepare_sqlite(path)
    stamp_sqlite(path, "9999")
    before = path.read_bytes()
    with pytest.raises(DatabaseAhead) as refusal:
        migrate.prepare_sqlite(path)
    assert refusal.value.details == {"found": "9999", "needed": migrate.HEAD}
    assert refusal.value.hint
    assert path.read_bytes() == before
    assert not (path.parent / "backups").exists()


@pytest.mark.parametrize("content", [b"this is no database, whatever its name says" * 100])
def test_a_file_that_is_no_database_is_unavailable_and_left_untouched(
    path: Path, content: bytes
) -> None:
    path.write_bytes(content)
    with pytest.raises(StorageUnavailable):
        migrate.prepare_sqlite(path)
    assert path.read_bytes() == content


FAILING_HALF_WAY = """
    op.execute("INSERT INTO later VALUES (1)")
    op.execute("DELETE FROM memory")
    raise ZeroDivisionError
"""


async def test_a_migration_that_fails_half_way_leaves_the_file_as_it_was(
    path: Path, next_version: NextVersion
) -> None:
    database = sqlite_database(path)
    await database.keep("precious")
    next_version(FAILING_HALF_WAY)
    with pytest.raises(ZeroDivisionError):
        migrate.prepare_sqlite(path)
    assert migrate.sqlite_revision(path) == NOW
    assert "later" not in tables_in(path)
    assert await database.keys() == ["precious"]
    await database.store.close()


def test_a_migration_that_fails_half_way_leaves_postgresql_as_it_was(
    postgres_url: str, next_version: NextVersion
) -> None:
    migrate.upgrade_postgres(postgres_url)
    next_version(FAILING_HALF_WAY)
    with pytest.raises(ZeroDivisionError):
        migrate.upgrade_postgres(postgres_url)
    assert migrate.postgres_revision(postgres_url) == NOW
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT to_regclass('later')").fetchone() == (None,)


def test_postgresql_is_upgraded_only_when_asked(
    postgres_url: str, next_version: NextVersion
) -> None:
    with pytest.raises(DatabaseBehind) as refusal:
        migrate.check_postgres(postgres_url)
    assert refusal.value.details == {"found": None, "needed": NOW}
    assert refusal.value.hint == "run 'quarterdeck db upgrade'"
    assert migrate.upgrade_postgres(postgres_url) is None
    assert migrate.upgrade_postgres(postgres_url) == NOW
    migrate.check_postgres(postgres_url)

    next_version()
    with pytest.raises(DatabaseBehind) as refusal:
        migrate.check_postgres(postgres_url)
    assert refusal.value.details == {"found": NOW, "needed": NEXT}
    assert migrate.upgrade_postgres(postgres_url) == NOW
    migrate.check_postgres(postgres_url)


def test_a_newer_postgresql_is_refused_and_left_untouched(postgres_url: str) -> None:
    migrate.upgrade_postgres(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for attempt in (migrate.check_postgres, migrate.upgrade_postgres):
        with pytest.raises(DatabaseAhead) as refusal:
            attempt(postgres_url)
        assert refusal.value.details == {"found": "9999", "needed": migrate.HEAD}
    assert migrate.postgres_revision(postgres_url) == "9999"


def test_a_postgresql_that_is_not_there_is_unavailable_and_no_password_is_told(
    tmp_path: Path,
) -> None:
    url = f"postgresql://user:{FAKE_PASSWORD}@/name?host={tmp_path}"
    for attempt in (migrate.check_postgres, migrate.upgrade_postgres):
        with pytest.raises(StorageUnavailable) as refusal:
            attempt(url)
        assert FAKE_PASSWORD not in str(refusal.value.body())


def test_whatever_url_libpq_understands_can_be_upgraded(postgres_url: str, tmp_path: Path) -> None:
    """Several hosts, of which the first may be down, and a socket folder as a host."""
    server, _, socket_folder = postgres_url.partition("?host=")
    hosts = ",".join(quote(folder, safe="") for folder in (str(tmp_path), socket_folder))
    url = server.replace("postgresql://", "postgres://").replace("@/", f"@{hosts}/")
    migrate.upgrade_postgres(url)
    migrate.check_postgres(url)


MIGRATE_WHEN_TOLD = """
import sys
from pathlib import Path
import alembic.command, sqlalchemy
from quarterdeck.repositories.sql import migrate

print("ready", flush=True)
sys.stdin.readline()
kind, target = sys.argv[1:]
if kind == "sqlite":
    migrate.prepare_sqlite(Path(target))
else:
    migrate.upgrade_postgres(target)
print("done")
"""


def test_processes_that_prepare_one_new_file_at_once_all_succeed(path: Path) -> None:
    assert run_at_once(MIGRATE_WHEN_TOLD, "sqlite", str(path), count=4) == ["done"] * 4
    assert migrate.sqlite_revision(path) == migrate.HEAD


def test_processes_that_upgrade_one_postgresql_at_once_all_succeed(postgres_url: str) -> None:
    assert run_at_once(MIGRATE_WHEN_TOLD, "postgres", postgres_url, count=4) == ["done"] * 4
    migrate.check_postgres(postgres_url)
