"""What the doctor says of the daemon, the PATH, keys and clients."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.__main__ import Installed
from quarterdeck.cli.checks import Check
from quarterdeck.daemon.address import Address, announce, held_for_life
from quarterdeck.daemon.launch import ensure_daemon, stop_daemon
from quarterdeck.settings import Settings
from tests.cli.conftest import CommandLine

KEY = "not-a-" + "real-key-" * 3


class Quick(Installed):
    """Does not start a server, which takes a second and is of no interest here."""

    async def count_tools(self, settings: Settings) -> int:
        return 9


def check(cli: CommandLine, name: str) -> Check:
    out = cli("doctor", "--json", program=Quick()).out
    assert KEY not in out
    return next(Check(**row) for row in json.loads(out)["checks"] if row["name"] == name)


@pytest.fixture
def daemon(home: Path) -> Iterator[Address]:
    yield ensure_daemon(home, os.environ, say=lambda _: None, flags=["--port=0"])
    stop_daemon(home, say=lambda _: None)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user without clients, and without keys in the shell."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CODER_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def test_a_daemon_that_runs_is_named_with_its_version_and_its_path(
    cli: CommandLine, daemon: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/elsewhere")
    found, path = check(cli, "daemon"), check(cli, "path")
    assert (found.status, found.hint) == ("ok", None)
    assert f"at {daemon.url}, process {daemon.pid}" in found.found
    assert path.found.startswith("of the daemon: ")
    assert "/elsewhere" not in path.found


def test_a_process_that_holds_the_home_and_does_not_answer_fails(
    cli: CommandLine, home: Path
) -> None:
    with held_for_life(home):
        announce(home, Address("http://127.0.0.1:9", os.getpid(), 0.0, "i", "0.1.0"))
        found = check(cli, "daemon")
    assert found.status == "fail"
    assert "does not answer" in found.found
    assert found.hint == "see 'quarterdeck logs'; 'quarterdeck down --now' ends it"


def test_a_path_without_git_is_warned_about(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = check(cli, "path")
    assert found.status == "warn"
    assert found.found == "of this shell: /nowhere; not found: git"


@pytest.mark.usefixtures("alone")
def test_keys_are_named_and_never_shown(
    cli: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "env").write_text(f"OPENAI_API_KEY={KEY}\n", encoding="utf-8")
    (home / "env").chmod(0o600)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("CODER_SESSION_TOKEN", KEY)
    found = check(cli, "keys")
    assert found.found == (
        "present: CODER_SESSION_TOKEN, OPENAI_API_KEY;"
        " in this shell alone, which agents do not see: ANTHROPIC_API_KEY"
    )


@pytest.mark.usefixtures("alone")
def test_keys_that_others_can_read_fail_with_what_to_do(cli: CommandLine, home: Path) -> None:
    home.mkdir()
    (home / "env").write_text(f"OPENAI_API_KEY={KEY}\n", encoding="utf-8")
    (home / "env").chmod(0o644)
    found = check(cli, "keys")
    assert (found.status, found.hint) == ("fail", f"run 'chmod 600 {home / 'env'}'")


@pytest.mark.usefixtures("alone")
def test_clients_are_named_when_they_are_configured(cli: CommandLine, tmp_path: Path) -> None:
    assert check(cli, "clients").found == "none configured"
    assert cli("install", "cursor", "--yes").code == 0
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text("{", encoding="utf-8")
    found = check(cli, "clients")
    assert found.status == "warn"
    assert found.found.startswith("configured: Cursor")
    assert "cannot be read: Gemini" in found.found
