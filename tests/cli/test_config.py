import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from quarterdeck.__main__ import Installed
from quarterdeck.cli.main import dispatch
from quarterdeck.cli.program import Invocation
from quarterdeck.errors import InvalidSettings
from quarterdeck.settings import KEYS

PASSWORD = "not" + "-a-real-" + "one"


@pytest.fixture(autouse=True)
def existing_home(home: Path) -> None:
    home.mkdir()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*arguments: str) -> None:
    dispatch(Invocation(Installed()), ("config", *arguments))


def test_show_prints_every_setting_with_its_value_and_origin(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.toml").write_text('[server]\ntoolsets = ["memory", "trace"]', encoding="utf-8")
    monkeypatch.setenv("QUARTERDECK_SERVER_READ_ONLY", "yes")
    run("show")
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["SETTING", "VALUE", "ORIGIN"]
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines}
    assert tuple(rows) == KEYS
    assert rows["home"] == [str(home), "environment QUARTERDECK_HOME"]
    assert rows["database.url"] == ["(unset)", "default"]
    assert rows["server.read_only"] == ["true", "environment QUARTERDECK_SERVER_READ_ONLY"]
    assert rows["server.toolsets"] == ["memory,trace", f"config file {home / 'config.toml'}"]


def test_the_columns_of_show_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    run("show")
    header, *lines = capsys.readouterr().out.splitlines()
    start = header.index("ORIGIN")
    assert all(line[start - 2 : start] == "  " and line[start] != " " for line in lines)


def test_show_prints_json_on_request(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", "--json")
    shown = json.loads(capsys.readouterr().out)
    assert tuple(shown) == KEYS
    assert shown["home"] == {"value": str(home), "origin": "environment QUARTERDECK_HOME"}
    assert shown["database.url"] == {"value": None, "origin": "default"}
    assert shown["server.toolsets"] == {"value": ["all"], "origin": "default"}


def test_show_draws_a_table_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("QUARTERDECK_TELEMETRY_OTLP_ENDPOINT", "http://[red]")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    run("show")
    assert "│ trace.retention_days" in terminal.getvalue()
    assert "http://[red]" in terminal.getvalue()


@pytest.mark.parametrize("arguments", [["show"], ["show", "--json"]])
def test_show_masks_passwords(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "postgresql://" + f"ada:{PASSWORD}@db.example/fleet"
    monkeypatch.setenv("QUARTERDECK_DATABASE_URL", url)
    run(*arguments)
    shown = capsys.readouterr().out
    assert "postgresql://ada:**********@db.example/fleet" in shown
    assert PASSWORD not in shown


def test_show_takes_another_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("show", "--json", "--home", str(tmp_path / "other"))
    shown = json.loads(capsys.readouterr().out)
    assert shown["home"] == {"value": str(tmp_path / "other"), "origin": "flag --home"}


def test_show_refuses_a_broken_configuration(home: Path) -> None:
    (home / "config.toml").write_text("[", encoding="utf-8")
    with pytest.raises(InvalidSettings):
        run("show")


def test_path_prints_where_the_config_file_is_looked_for(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("path")
    assert capsys.readouterr().out == f"{home / 'config.toml'}\n"


def test_path_finds_a_broken_config_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "deck").mkdir()
    (home / "deck" / "config.toml").write_text("[", encoding="utf-8")
    run("path", "--home", str(home / "deck"))
    assert capsys.readouterr().out == f"{home / 'deck' / 'config.toml'}\n"


def test_the_commands_are_known_before_the_settings_are_loaded() -> None:
    program = (
        "import sys, quarterdeck.cli.config;"
        "sys.exit('quarterdeck.settings' in sys.modules or 'pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
