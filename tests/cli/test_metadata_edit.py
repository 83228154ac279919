"""`metadata edit`, as a process at a terminal, with an editor that is a real program."""

import shlex
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.support.daemons import quarterdeck
from tests.support.servers import environment
from tests.support.terminals import Session, at_terminal

GOOD = "version: 1\ntools:\n  memory_store: {title: Remember}\n"
UNKNOWN = "tools:\n  memory_stor: {title: x}\n  trace_gte: {title: y}\n"
BROKEN = "tools:\n  memory_store:\n    titel: x\n    mode: prepend\n"

# Writes its next text on each run, and notes what it was given.
EDITOR = """
import os, pathlib, stat, sys
folder, path = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[-1])
run = len(list(folder.glob("seen*")))
seen = f"{sys.argv[2:-1]} {stat.S_IMODE(path.stat().st_mode):o} {path.name}\\n"
(folder / f"seen{run}").write_text(seen + path.read_text())
text = folder / f"text{run}"
if text.exists():
    path.write_text(text.read_text())
"""


class Desk:
    """A user with an editor, who knows beforehand what to write."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "user"
        self.notes = folder / "notes of the editor"
        self.path = self.home / "quarterdeck" / "metadata.yaml"
        self.path.parent.mkdir(parents=True)
        self.notes.mkdir()
        script = self.notes / "editor.py"
        script.write_text(EDITOR, encoding="utf-8")
        self.command = shlex.join([sys.executable, str(script), str(self.notes), "--wait"])

    def edit(self, *texts: str, typed: str = "", **environ: str) -> Session:
        for number, text in enumerate(texts):
            (self.notes / f"text{number}").write_text(text, encoding="utf-8")
        variables = environment(self.home) | (environ or {"EDITOR": self.command})
        return at_terminal("metadata", "edit", environ=variables, typed=typed)

    def seen(self, run: int) -> str:
        return (self.notes / f"seen{run}").read_text(encoding="utf-8")

    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_good_file_takes_the_place_of_the_old_one(desk: Desk) -> None:
    desk.path.write_text("version: 1 # old\n", encoding="utf-8")
    desk.path.chmod(0o640)
    done = desk.edit(GOOD)
    assert done.code == 0, done.shown
    assert "quarterdeck reload" in done.shown
    assert desk.text() == GOOD
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o640
    assert desk.seen(0) == "['--wait'] 600 metadata.yaml\nversion: 1 # old\n"


def test_without_a_file_the_example_is_edited_and_the_file_is_private(desk: Desk) -> None:
    assert desk.edit(GOOD).code == 0
    assert "# tools:" in desk.seen(0)
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o600


def test_visual_comes_before_editor(desk: Desk) -> None:
    done = desk.edit(GOOD, VISUAL=desk.command, EDITOR="no-such-editor")
    assert done.code == 0, done.shown


def test_what_was_not_edited_is_not_written(desk: Desk) -> None:
    done = desk.edit()
    assert done.code == 0
    assert "Nothing was changed" in done.shown
    assert not desk.path.exists()


def test_problems_are_shown_by_line_and_the_user_edits_again(desk: Desk) -> None:
    done = desk.edit(BROKEN, UNKNOWN, GOOD, typed="e\nedit\n")
    assert done.code == 0, done.shown
    assert "line 3" in done.shown
    assert "line 4" in done.shown
    assert "did you mean 'memory_store'?" in done.shown
    assert "did you mean 'trace_get'?" in done.shown
    assert desk.seen(1).endswith(BROKEN)
    assert desk.seen(2).endswith(UNKNOWN)
    assert desk.text() == GOOD


@pytest.mark.parametrize("typed", ["g\n", "\n", "\x04"])
def test_going_back_leaves_the_file_as_it_was(desk: Desk, typed: str) -> None:
    desk.path.write_text("version: 1 # old\n", encoding="utf-8")
    done = desk.edit(BROKEN, typed=typed)
    assert done.code == 0, done.shown
    assert "stays as it was" in done.shown
    assert desk.text() == "version: 1 # old\n"


def test_names_that_nothing_has_can_be_kept(desk: Desk) -> None:
    assert desk.edit(UNKNOWN, typed="k\n").code == 0
    assert desk.text() == UNKNOWN


def test_what_is_no_metadata_cannot_be_kept(desk: Desk) -> None:
    done = desk.edit(BROKEN, typed="k\ng\n")
    assert done.code == 0, done.shown
    assert "[k]eep" not in done.shown
    assert not desk.path.exists()


def test_a_change_made_meanwhile_is_not_overwritten(desk: Desk) -> None:
    script = f"{shlex.quote(sys.executable)} -c"
    code = (
        "import pathlib, sys; "
        f"pathlib.Path({str(desk.path)!r}).write_text('version: 1 # other'); "
        f"pathlib.Path(sys.argv[1]).write_text({GOOD!r})"
    )
    done = desk.edit(EDITOR=f"{script} {shlex.quote(code)}")
    assert done.code == 4, done.shown
    assert "has changed in the meantime" in done.shown
    assert desk.text() == "version: 1 # other"
    kept = desk.path.with_name("metadata-1.yaml")
    assert str(kept) in done.shown
    assert kept.read_text(encoding="utf-8") == GOOD


@pytest.mark.parametrize(
    ("editor", "code", "complaint"),
    [
        ("no-such-editor", 2, "set VISUAL or EDITOR"),
        ("'half", 2, "is no command"),
        ("false", 6, "ended with code 1"),
    ],
)
def test_an_editor_that_fails_changes_nothing(
    desk: Desk, editor: str, code: int, complaint: str
) -> None:
    done = desk.edit(GOOD, EDITOR=editor)
    assert done.code == code, done.shown
    assert complaint in done.shown
    assert not desk.path.exists()


def test_without_any_editor_the_user_is_told_what_to_set(desk: Desk) -> None:
    done = desk.edit(PATH=str(desk.notes))
    assert done.code == 2, done.shown
    assert "set VISUAL or EDITOR" in done.shown


def test_without_a_terminal_nobody_can_edit(cli: CommandLine, tmp_path: Path) -> None:
    assert cli("metadata", "edit").code == 2
    done = quarterdeck("metadata", "edit", home=tmp_path)
    assert done.returncode == 2
    assert "no terminal" in done.stderr
    assert "quarterdeck metadata set" in done.stderr
