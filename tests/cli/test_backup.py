"""`quarterdeck backup` and `quarterdeck restore`, as they are typed."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from quarterdeck.__main__ import Installed
from quarterdeck.settings import Settings
from tests.cli.conftest import CommandLine


def keys(cli: CommandLine) -> list[str]:
    return [row["key"] for row in json.loads(cli("memory", "list", "--json").out)["keys"]]


def names(cli: CommandLine) -> list[str]:
    traces = json.loads(cli("traces", "list", "--json").out)["traces"]
    return [trace["workflowId"] for trace in traces]


def test_a_backup_prints_where_it_is_and_a_restore_what_it_does(
    cli: CommandLine, home: Path
) -> None:
    cli("memory", "store", "first", "{}")
    saved = cli("backup")
    path = Path(saved.out.strip())
    assert (saved.code, path.parent, path.exists()) == (0, home / "backups", True)
    assert re.match(r"Saved 1 memory, .*1 traces and 0 files", saved.err)
    cli("memory", "store", "second", "{}")
    restored = cli("restore", str(path), "--yes")
    assert (restored.code, restored.out) == (0, "")
    assert "memory     2                        1\n" in restored.err
    assert f"Restored {path}; what was there before is in {home / 'backups'}" in restored.err
    assert keys(cli) == ["first"]
    assert names(cli) == ["cli.restore", "cli.memory.store"]


def test_both_answer_in_json(cli: CommandLine, tmp_path: Path) -> None:
    target = tmp_path / "mine.zip"
    saved = json.loads(cli("backup", str(target), "--json").out)
    assert (saved["path"], saved["secrets"]) == (str(target), False)
    answer = json.loads(cli("restore", str(target), "--yes", "--json").out)
    assert answer["restored"] is True
    assert Path(answer["savedAs"]).exists()
    assert answer["plan"]["archive"] == str(target)


def test_without_a_terminal_a_restore_wants_to_be_confirmed(
    cli: CommandLine, tmp_path: Path
) -> None:
    target = tmp_path / "mine.zip"
    cli("backup", str(target))
    cli("memory", "store", "late", "{}")
    refused = cli("restore", str(target))
    assert refused.code == 2
    assert "hint: add --yes" in refused.err
    assert keys(cli) == ["late"]
    assert names(cli)[0] == "cli.restore"


@pytest.mark.parametrize(("typed", "restored"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_at_a_terminal_it_asks(
    typed: str,
    restored: bool,
    cli: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = tmp_path / "mine.zip"
    cli("backup", str(target))
    cli("memory", "store", "late", "{}")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", lambda: typed, raising=False)
    done = cli("restore", str(target))
    assert done.code == 0
    assert "Replace what is there now? [y/N] " in done.err
    assert ("Nothing was changed" in done.err) is not restored
    assert keys(cli) == ([] if restored else ["late"])


def test_a_bad_archive_is_invalid_input_and_recorded(cli: CommandLine, tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    bad.write_text("nothing", encoding="utf-8")
    refused = cli("restore", str(bad), "--yes")
    assert refused.code == 2
    assert "is no archive, or was cut short" in refused.err
    assert names(cli) == ["cli.restore"]


def test_a_place_that_cannot_be_written_to_is_reported(cli: CommandLine, tmp_path: Path) -> None:
    refused = cli("backup", str(tmp_path / "nowhere" / "a.zip"))
    assert refused.code == 6
    assert f"Cannot write to '{tmp_path / 'nowhere'}': No such file or directory" in refused.err
    assert "hint: make room there or choose another place" in refused.err


def test_servers_of_the_home_are_paused_only_while_its_state_is_replaced(
    cli: CommandLine, tmp_path: Path
) -> None:
    target = tmp_path / "mine.zip"
    cli("backup", str(target))
    seen: list[str] = []

    class Pausing(Installed):
        @asynccontextmanager
        async def paused(self, settings: Settings) -> AsyncGenerator[None]:
            seen.append("paused")
            yield
            seen.append("continued")

    assert cli("restore", str(target), program=Pausing()).code == 2
    assert seen == []
    assert cli("restore", str(target), "--yes", program=Pausing()).code == 0
    assert seen == ["paused", "continued"]
