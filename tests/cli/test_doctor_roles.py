"""What the doctor says of projects and roles."""

import json
import subprocess
from pathlib import Path

import pytest

from quarterdeck.__main__ import Installed
from quarterdeck.cli.checks import Check
from quarterdeck.settings import Settings
from tests.cli.conftest import CommandLine


class Quick(Installed):
    async def count_tools(self, settings: Settings) -> int:
        return 9


@pytest.fixture
def examined(cli: CommandLine, home: Path) -> "Examined":
    return Examined(cli, home)


class Examined:
    """Examines a home whose config file says this."""

    def __init__(self, cli: CommandLine, home: Path) -> None:
        self._cli, self._home = cli, home

    def __call__(self, name: str, config: str) -> Check:
        self._home.mkdir(mode=0o700, exist_ok=True)
        (self._home / "config.toml").write_text(config, encoding="utf-8")
        report = json.loads(self._cli("doctor", "--json", program=Quick()).out)
        (check,) = [Check(**check) for check in report["checks"] if check["name"] == name]
        return check


def test_without_definitions_all_is_well(examined: Examined) -> None:
    assert examined("projects", "").status == "ok"
    assert examined("roles", "").status == "ok"


def test_a_project_that_is_gone_is_named(examined: Examined, tmp_path: Path) -> None:
    check = examined("projects", f'[projects.Site]\nfolder = "{tmp_path / "gone"}"\n')
    assert (check.status, "'Site' is not at" in check.found) == ("fail", True)
    assert "config.toml" in str(check.hint)


def test_a_repository_that_is_none_is_named(examined: Examined, tmp_path: Path) -> None:
    place = tmp_path / "site"
    place.mkdir()
    config = f'[projects.Site]\nrepository = "{place}"\n'
    check = examined("projects", config)
    assert (check.status, "no git repository" in check.found) == ("fail", True)
    subprocess.run(["git", "init", "--quiet", str(place)], check=True)
    assert examined("projects", config).status == "ok"


def test_a_program_that_is_missing_is_named_with_the_command_for_it(
    examined: Examined, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = examined("roles", '[roles.coder]\nagent = "gemini"\n')
    assert (check.status, "'gemini'" in check.found) == ("fail", True)
    assert check.hint == "run 'quarterdeck roles install gemini'"


def test_a_key_that_is_missing_is_a_warning(
    examined: Examined, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gemini").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    config = '[roles.coder]\nagent = "gemini"\n[roles.test]\nagent = "scripted"\n'
    check = examined("roles", config)
    assert (check.status, "no key for 'coder'" in check.found) == ("warn", True)

    keys = home / "env"
    keys.write_text("GEMINI_API_KEY=" + "not-a-real-key\n", encoding="utf-8")
    keys.chmod(0o600)
    assert examined("roles", config).status == "ok"
