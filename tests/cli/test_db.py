import json
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from quarterdeck.repositories.sql.migrate import HEAD
from tests.cli.conftest import CommandLine


def mark_as_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")


def test_status_of_a_home_that_is_not_there_changes_nothing(cli: CommandLine, home: Path) -> None:
    status = cli("db", "status")
    assert status.code == 0
    assert "state     new: nothing is stored yet\n" in status.out
    assert not home.exists()


def test_upgrade_makes_the_database_and_says_so(cli: CommandLine, home: Path) -> None:
    assert cli("db", "upgrade").err == f"Upgraded the database from nothing to {HEAD}\n"
    assert json.loads(cli("db", "status", "--json").out) == {
        "kind": "sqlite",
        "place": str(home / "quarterdeck.db"),
        "state": "current",
        "revision": HEAD,
        "needed": HEAD,
    }


def test_a_second_upgrade_has_nothing_to_do(cli: CommandLine) -> None:
    cli("db", "upgrade")
    again = cli("db", "upgrade")
    assert (again.code, again.err) == (0, f"The database is at {HEAD} already\n")


def test_an_upgrade_is_recorded(cli: CommandLine) -> None:
    cli("db", "upgrade")
    (trace,) = json.loads(cli("traces", "list", "--json").out)["traces"]
    assert (trace["workflowId"], trace["status"]) == ("cli.db.upgrade", "success")


def test_a_newer_database_is_shown_and_not_touched(cli: CommandLine, home: Path) -> None:
    cli("db", "upgrade")
    mark_as_newer(home / "quarterdeck.db")
    assert "state     ahead" in cli("db", "status").out
    refused = cli("db", "upgrade")
    assert refused.code == 4
    assert "newer version" in refused.err


def test_postgresql_is_upgraded_only_by_this_command(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    monkeypatch.setenv("QUARTERDECK_DATABASE_URL", postgres_url)
    refused = cli("memory", "list")
    assert refused.code == 4
    assert refused.err.endswith("hint: run 'quarterdeck db upgrade'\n")
    assert json.loads(cli("db", "status", "--json").out)["state"] == "new"
    answer = json.loads(cli("db", "upgrade", "--json").out)
    assert answer == {"from": None, "to": HEAD}
    assert cli("memory", "store", "k", "{}").code == 0
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM traces").fetchone() == (2,)


def test_an_unreachable_server_is_unavailable_without_its_password(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "mast-" + "and-" + "keel"
    monkeypatch.setenv(
        "QUARTERDECK_DATABASE_URL", "postgresql://" + f"ada:{password}@127.0.0.1:1/fleet"
    )
    for command in ("status", "upgrade"):
        refused = cli("db", command)
        assert refused.code == 6
        assert "PostgreSQL cannot be reached" in refused.err
        assert password not in refused.out + refused.err
