"""Archives that nobody should restore are refused whole, and nothing of the home changes."""

import shutil
import sqlite3
import stat
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.app import Quarterdeck
from quarterdeck.errors import ArchiveAhead, CannotWrite, InvalidArchive, QuarterdeckError
from quarterdeck.repositories.sql import migrate
from quarterdeck.testing import quarterdeck_for_tests
from tests.support.archives import (
    add_file,
    back_up,
    change_manifest,
    exchange_database,
    keys,
    members,
    restore,
    rewrite,
    store,
)

Spoil = Callable[[Path], None]

SCRIPTS = Path(migrate.__file__).parent / "migrations"
NEXT_MIGRATION = f"""
from alembic import op

revision = "later"
down_revision = "{migrate.HEAD}"

def upgrade():
    op.execute("CREATE TABLE later (id integer)")
"""


@pytest.fixture
async def product(tmp_path: Path, migrated_sqlite: Path) -> AsyncIterator[Quarterdeck]:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(migrated_sqlite, home)
    async with quarterdeck_for_tests(home) as deck:
        yield deck.quarterdeck


@pytest.fixture
async def archive(product: Quarterdeck, tmp_path: Path) -> Path:
    home = product.settings.home
    (home / "policies").mkdir()
    (home / "policies" / "a.yaml").write_text("rules", encoding="utf-8")
    await store(product, "kept")
    path = tmp_path / "archive.zip"
    await back_up(product, path)
    await store(product, "present")
    return path


async def refusal(product: Quarterdeck, archive: Path) -> QuarterdeckError:
    """Return why an archive is refused; all that is there stays, and nothing is left over."""
    before = sorted(path for path in product.settings.home.rglob("*") if path.is_file())
    with pytest.raises(QuarterdeckError) as refused:
        await restore(product, archive)
    after = sorted(path for path in product.settings.home.rglob("*") if path.is_file())
    assert after == before
    assert await keys(product) == ["kept", "present"]
    return refused.value


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def cut_early(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:500])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def be_text(path: Path) -> None:
    path.write_text("not an archive", encoding="utf-8")


def be_another_zip(path: Path) -> None:
    rewrite(path, {"readme.txt": b"hello"})


def flip_a_bit(path: Path) -> None:
    with zipfile.ZipFile(path) as zipped:
        database = zipped.getinfo("database.sqlite")
    content = bytearray(path.read_bytes())
    content[database.header_offset + database.compress_size // 2] ^= 1
    path.write_bytes(content)


def change_a_file(path: Path) -> None:
    rewrite(path, {**members(path), "home/policies/a.yaml": b"rulez"})


def leave_the_home(path: Path) -> None:
    add_file(path, "policies/../../evil", b"x")


def leave_the_zip(path: Path) -> None:
    add_file(path, "../evil", b"x", inside="../evil")


def name_an_absolute_path(path: Path) -> None:
    add_file(path, "/etc/evil", b"x", inside="/etc/evil")


def bring_an_access_key(path: Path) -> None:
    add_file(path, "token", b"x")


def bring_secrets_unannounced(path: Path) -> None:
    add_file(path, "env", b"x")


def hide_a_file(path: Path) -> None:
    rewrite(path, {**members(path), "home/policies/extra.yaml": b"x"})


def miss_a_file(path: Path) -> None:
    content = members(path)
    del content["home/policies/a.yaml"]
    rewrite(path, dict(content))


def link(path: Path) -> None:
    info = zipfile.ZipInfo("home/policies/link.yaml")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    add_file(path, "policies/link.yaml", b"/etc/passwd")
    rewrite(path, {**members(path), "home/policies/link.yaml": info})


def repeat_a_file(path: Path) -> None:
    content = members(path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as zipped:
        zipped.writestr("home/policies/a.yaml", content["home/policies/a.yaml"])


def be_a_huge_file(path: Path) -> None:
    add_file(path, "policies/huge.yaml", b"\0" * (17 * 1024 * 1024))


def swell(path: Path) -> None:
    """Say that a file is small; it is not."""
    add_file(path, "policies/bomb.yaml", b"\0" * (8 * 1024 * 1024))

    def belittle(manifest: dict[str, Any]) -> None:
        manifest["files"][-1]["size"] = 10

    change_manifest(path, belittle)


def lie_in_the_zip(path: Path) -> None:
    """Let the zip itself say that a bomb is small."""
    size = 8 * 1024 * 1024
    add_file(path, "policies/bomb.yaml", b"\0" * size)

    def belittle(manifest: dict[str, Any]) -> None:
        manifest["files"][-1]["size"] = 10

    change_manifest(path, belittle)
    content = path.read_bytes()
    path.write_bytes(content.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little")))


def break_the_manifest(path: Path) -> None:
    rewrite(path, {**members(path), "manifest.json": b"{"})


def add_to_the_manifest(path: Path) -> None:
    change_manifest(path, lambda manifest: manifest.update(more=1))


def grow_the_manifest(path: Path) -> None:
    rewrite(path, {**members(path), "manifest.json": b" " * 5 * 1024 * 1024})


def damage_the_database(path: Path) -> None:
    data = bytearray(members(path)["database.sqlite"])
    data[4096 : 4096 * 3] = b"\xff" * 8192
    exchange_database(path, bytes(data))


def bring_no_database(path: Path) -> None:
    exchange_database(path, b"x" * 10_000)


def bring_an_empty_database(path: Path) -> None:
    exchange_database(path, b"")


def with_sql(path: Path, statement: str) -> None:
    file = path.with_suffix(".db")
    file.write_bytes(members(path)["database.sqlite"])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)
    exchange_database(path, file.read_bytes())


def bring_a_trigger(path: Path) -> None:
    statement = "CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM traces; END"
    with_sql(path, statement)


def bring_a_view(path: Path) -> None:
    with_sql(path, "CREATE VIEW v AS SELECT * FROM memory")


def bring_a_column(path: Path) -> None:
    with_sql(path, "ALTER TABLE memory ADD COLUMN extra TEXT DEFAULT 'x'")


def bring_another_revision(path: Path) -> None:
    with_sql(path, "UPDATE alembic_version SET version_num = '9999'")


SPOILT: list[Spoil] = [
    cut,
    cut_early,
    empty,
    be_text,
    be_another_zip,
    flip_a_bit,
    change_a_file,
    leave_the_home,
    leave_the_zip,
    name_an_absolute_path,
    bring_an_access_key,
    bring_secrets_unannounced,
    hide_a_file,
    miss_a_file,
    link,
    repeat_a_file,
    be_a_huge_file,
    swell,
    lie_in_the_zip,
    break_the_manifest,
    add_to_the_manifest,
    grow_the_manifest,
    damage_the_database,
    bring_no_database,
    bring_an_empty_database,
    bring_a_trigger,
    bring_a_view,
    bring_a_column,
    bring_another_revision,
]


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
async def test_a_spoilt_archive_is_refused_whole(
    spoil: Spoil, product: Quarterdeck, archive: Path
) -> None:
    spoil(archive)
    error = await refusal(product, archive)
    assert isinstance(error, InvalidArchive), error
    assert error.details["path"] == str(archive)


def be_of_a_newer_revision(path: Path) -> None:
    change_manifest(path, lambda manifest: manifest.update(revision="9999"))


def be_of_a_newer_format(path: Path) -> None:
    change_manifest(path, lambda manifest: manifest.update(format=2))


@pytest.mark.parametrize(
    "renew", [be_of_a_newer_revision, be_of_a_newer_format], ids=lambda renew: renew.__name__
)
async def test_an_archive_of_a_newer_program_is_refused(
    renew: Spoil, product: Quarterdeck, archive: Path
) -> None:
    renew(archive)
    error = await refusal(product, archive)
    assert isinstance(error, ArchiveAhead)
    assert "install" in (error.hint or "")


async def test_an_archive_that_would_fill_the_disk_is_refused_before_it_is_unpacked(
    product: Quarterdeck, archive: Path
) -> None:
    def exaggerate(manifest: dict[str, Any]) -> None:
        manifest["database"]["size"] = 2**60

    change_manifest(archive, exaggerate)
    # The zip itself says less, which is found first.
    assert isinstance(await refusal(product, archive), InvalidArchive | CannotWrite)


async def test_the_same_archive_unspoilt_is_restored(product: Quarterdeck, archive: Path) -> None:
    await restore(product, archive)
    assert await keys(product) == ["kept"]


@pytest.fixture
def later_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What makes this the next version of the program, which knows one migration more."""
    scripts = tmp_path / "migrations"
    shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / "m0002_later.py").write_text(NEXT_MIGRATION, encoding="utf-8")

    def become() -> None:
        monkeypatch.setattr(migrate, "_MIGRATIONS", scripts)
        monkeypatch.setattr(migrate, "REVISIONS", (*migrate.REVISIONS, "later"))
        monkeypatch.setattr(migrate, "HEAD", "later")

    return become


async def test_an_older_archive_is_upgraded(
    product: Quarterdeck, archive: Path, later_program: Callable[[], None]
) -> None:
    later_program()
    await restore(product, archive)
    assert await keys(product) == ["kept"]
    path = product.settings.database_path
    assert migrate.sqlite_revision(path) == "later"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
