import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from quarterdeck.__main__ import Installed
from quarterdeck.cli import checks
from quarterdeck.cli.checks import Check
from quarterdeck.homes import Mount
from quarterdeck.ports.database import DatabaseStatus
from quarterdeck.repositories.sql.migrate import HEAD
from quarterdeck.settings import Settings, load_settings
from tests.cli.conftest import CommandLine

ABOUT_MACHINE = ["python", "quarterdeck", "sqlite", "home", "disk"]
ABOUT_SURROUNDINGS = ["daemon", "path", "keys", "clients"]
ABOUT_SETTINGS = ["config", "projects", "roles", "database", "mcp", "telemetry"]
NAMES = [*ABOUT_MACHINE, *ABOUT_SURROUNDINGS, *ABOUT_SETTINGS]


class Space(NamedTuple):
    free: int


class Quick(Installed):
    """Does not start a server, which takes a second and is of no interest to most tests."""

    async def count_tools(self, settings: Settings) -> int:
        return 9


class Older:
    """A file that an older version has left."""

    def status(self) -> DatabaseStatus:
        return DatabaseStatus("sqlite", "quarterdeck.db", "behind", "0001", "0002")

    def upgrade(self) -> None:
        raise AssertionError("a doctor changes nothing")

    def stored_bytes(self) -> int:
        return 0

    def problems(self) -> Sequence[str]:
        return ()


def examined(cli: CommandLine, *arguments: str) -> dict[str, Check]:
    report = json.loads(cli("doctor", "--json", *arguments, program=Quick()).out)
    found = {check["name"]: Check(**check) for check in report["checks"]}
    assert report["ok"] is all(check.status != "fail" for check in found.values())
    assert all(check.hint for check in found.values() if check.status != "ok")
    return found


def test_a_home_that_is_not_there_is_healthy_and_stays_away(cli: CommandLine, home: Path) -> None:
    finished = cli("doctor")
    assert (finished.code, finished.err) == (0, "")
    lines = finished.out.splitlines()
    assert [line.split()[:2] for line in lines[: len(NAMES)]] == [["ok", name] for name in NAMES]
    assert "does not exist yet" in finished.out
    assert "offers 24 tools" in finished.out
    assert lines[-1] == "Everything is as it should be"
    assert not home.exists()


def test_nothing_in_a_used_home_is_changed(cli: CommandLine, home: Path) -> None:
    cli("memory", "store", "k", '{"a": 1}')
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    found = examined(cli)
    assert {check.status for check in found.values()} == {"ok"}
    assert "survives a power loss" in found["database"].found
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before


def test_a_lesser_durability_is_named(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_DATABASE_DURABILITY", "normal")
    assert "not a power loss" in examined(cli)["database"].found


def test_a_file_that_is_no_database_fails(cli: CommandLine, home: Path) -> None:
    home.mkdir()
    (home / "quarterdeck.db").write_bytes(b"this is no database" * 100)
    database = examined(cli)["database"]
    assert database.status == "fail"
    assert "not a database" in database.found
    assert str(home / "backups") in (database.hint or "")
    assert cli("doctor", program=Quick()).code == 1


def test_a_damaged_page_fails(cli: CommandLine, home: Path) -> None:
    for number in range(30):
        cli("memory", "store", f"k{number}", json.dumps({"text": "x" * 500}))
    file = home / "quarterdeck.db"
    content = bytearray(file.read_bytes())
    content[20_000:30_000] = b"\xa5" * 10_000
    file.write_bytes(content)
    database = examined(cli)["database"]
    assert database.status == "fail"
    assert f"revision {HEAD}: " in database.found


def test_a_database_of_a_newer_version_fails(cli: CommandLine, home: Path) -> None:
    cli("db", "upgrade")
    with closing(sqlite3.connect(home / "quarterdeck.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    database = examined(cli)["database"]
    assert database.status == "fail"
    assert "revision 9999" in database.found


def test_an_unreachable_postgresql_fails_without_its_password(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "mast-" + "and-" + "keel"
    monkeypatch.setenv(
        "QUARTERDECK_DATABASE_URL", "postgresql://" + f"ada:{password}@127.0.0.1:1/fleet"
    )
    finished = cli("doctor", program=Quick())
    assert finished.code == 1
    assert "fail  database" in finished.out
    assert password not in finished.out + finished.err


def test_a_postgresql_that_waits_for_its_upgrade_fails_and_passes_after_it(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    monkeypatch.setenv("QUARTERDECK_DATABASE_URL", postgres_url)
    waiting = examined(cli)["database"]
    assert (waiting.status, waiting.hint) == ("fail", "run 'quarterdeck db upgrade'")
    cli("db", "upgrade")
    assert examined(cli)["database"].status == "ok"


def test_a_broken_configuration_fails_and_the_rest_is_still_said(
    cli: CommandLine, home: Path
) -> None:
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("[server]\nprot = 1\n", encoding="utf-8")
    found = examined(cli)
    assert found["config"].status == "fail"
    assert "'server.prot'" in found["config"].found
    assert "not looked at" in (found["config"].hint or "")
    assert found["home"].status == "ok"
    assert list(found) == [*ABOUT_MACHINE, *ABOUT_SURROUNDINGS, "config"]


def test_a_home_without_a_place_fails(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_HOME", "~nobody-of-this-name/home")
    found = examined(cli)
    assert found["home"].status == "fail"
    assert found["config"].status == "fail"


def test_a_home_that_others_may_read_is_warned_about(cli: CommandLine, home: Path) -> None:
    home.mkdir()
    home.chmod(0o755)
    checked = examined(cli)["home"]
    assert (checked.status, checked.hint) == ("warn", f"run 'chmod 700 {home}'")


def test_a_file_in_the_place_of_the_home_fails(cli: CommandLine, home: Path) -> None:
    home.write_text("", encoding="utf-8")
    checked = examined(cli)["home"]
    assert (checked.status, checked.found) == ("fail", f"{home} is not a folder")


def test_a_home_on_a_network_file_system_fails(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.homes.current_mounts", lambda: [Mount(Path("/"), "nfs4")])
    checked = checks.home(home)
    assert checked.status == "fail"
    assert "nfs4" in checked.found


@pytest.mark.parametrize(("megabytes", "status"), [(10, "fail"), (100, "warn"), (10_000, "ok")])
def test_the_less_room_is_left_the_worse(
    megabytes: int, status: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_usage(_path: Path) -> Space:
        return Space(megabytes * 1024 * 1024)

    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    assert checks.disk(home).status == status


def test_a_password_in_a_file_that_others_may_read_is_warned_about(
    cli: CommandLine, home: Path
) -> None:
    home.mkdir(mode=0o700)
    file = home / "config.toml"
    url = "postgresql://" + "ada:keel@127.0.0.1:1/fleet"
    file.write_text(f'[database]\nurl = "{url}"\n', encoding="utf-8")
    file.chmod(0o644)
    assert examined(cli)["config"].hint == f"run 'chmod 600 {file}'"


def test_a_sound_config_file_is_well(cli: CommandLine, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("[server]\nport = 7421\n", encoding="utf-8")
    assert examined(cli)["config"].found == f"{home / 'config.toml'} is sound"


def test_a_server_that_offers_nothing_is_warned_about(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_SERVER_TOOLSETS", "workflow")
    finished = cli("doctor")
    assert finished.code == 0
    assert "warn  mcp          the server starts and offers 0 tools\n" in finished.out
    assert finished.out.endswith("\nIt works, with warnings\n")


def test_an_older_file_is_well_because_the_next_start_upgrades_it(home: Path) -> None:
    settings = load_settings(environ={"QUARTERDECK_HOME": str(home)})
    checked = checks.database(Older(), settings)
    assert checked.status == "ok"
    assert "the next start upgrades it to 0002" in checked.found


def test_a_missing_exporter_fails_when_an_endpoint_is_set(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_TELEMETRY_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr(checks, "find_spec", dict[str, None]().get)
    checked = examined(cli)["telemetry"]
    assert (checked.status, checked.hint) == ("fail", "pip install 'quarterdeck[otel]'")


def test_a_check_that_breaks_is_a_finding_without_a_traceback(cli: CommandLine) -> None:
    class Broken(Quick):
        async def count_tools(self, settings: Settings) -> int:
            raise RuntimeError("left over from lunch")

    finished = cli("doctor", program=Broken())
    assert (finished.code, finished.err) == (1, "")
    assert "fail  mcp          the check itself failed (RuntimeError)" in finished.out
    assert "lunch" not in finished.out
