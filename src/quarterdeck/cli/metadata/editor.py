"""The user's editor, on a private copy of the file."""

import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from quarterdeck.errors import InvalidInput, Unavailable
from quarterdeck.user_files import replace_text

VARIABLES = ("VISUAL", "EDITOR")
USUAL = ("nano", "vim", "vi")


@contextmanager
def private_copy(text: str, name: str) -> Generator[Path]:
    """Make a copy that its owner alone can read; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="quarterdeck-") as folder:
        copy = Path(folder) / name
        replace_text(copy, text)
        yield copy


def refuse_without_terminal(path: Path) -> None:
    """Raise an error when there is nobody to edit."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput(
            "There is no terminal to edit in",
            hint=f"run 'quarterdeck metadata set', or write {path} yourself and run"
            " 'quarterdeck metadata validate'",
        )


def find_editor(environ: Mapping[str, str]) -> Sequence[str]:
    """Return the command of the user's editor.

    Raises:
        InvalidInput: none is set, and none of the usual ones is there.
    """
    for variable in VARIABLES:
        if command := environ.get(variable, "").strip():
            return _words(variable, command)
    for name in USUAL:
        if found := shutil.which(name, path=environ.get("PATH")):
            return [found]
    raise InvalidInput(
        "No editor was found",
        hint="set VISUAL or EDITOR to the command of yours, such as EDITOR='code --wait'",
    )


def run_editor(command: Sequence[str], path: Path) -> None:
    """Let the user edit the file, until the editor ends.

    Raises:
        InvalidInput: there is no such program.
        Unavailable: the editor failed.
    """
    # Ctrl-C is the editor's; a handler, unlike ignoring, does not pass on to it.
    before = signal.signal(signal.SIGINT, _left_to_editor)
    try:
        ended = subprocess.run([*command, str(path)], check=False)  # noqa: S603 - the user's own
    except OSError as error:
        raise InvalidInput(
            f"The editor {command[0]!r} cannot be started: {error.strerror}",
            hint="set VISUAL or EDITOR to the command of one that is there",
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if ended.returncode:
        raise Unavailable(
            f"The editor {command[0]!r} ended with code {ended.returncode}",
            details={"exitCode": ended.returncode},
            hint="nothing was changed",
        )


def _left_to_editor(_signal: int, _frame: FrameType | None) -> None:
    """Do nothing about Ctrl-C."""


def _words(variable: str, command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise InvalidInput(
            f"{variable} is no command: {error}", hint="put quotes around words with blanks"
        ) from error
