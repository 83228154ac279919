"""Changes to files of the user: shown first, and made when the user says so."""

import difflib
import signal
import sys
from pathlib import Path

from quarterdeck.cli.program import Invocation
from quarterdeck.cli.render import printable, remark
from quarterdeck.errors import InvalidInput


def show_change(path: Path, before: str | None, after: str | None, invocation: Invocation) -> None:
    """Print what a file becomes; credentials of its other parts are not repeated."""
    old, new = ((text or "").splitlines() for text in (before, after))
    was, becomes = ("/dev/null" if text is None else str(path) for text in (before, after))
    redactor = invocation.redactor()
    for line in difflib.unified_diff(old, new, was, becomes, lineterm=""):
        print(printable(redactor.text(line).expandtabs(4)), file=sys.stderr)


def may_change(question: str = "Make this change?", *, yes: bool) -> bool:
    """Tell whether the shown change is wanted; whoever says nothing wants none.

    Raises:
        InvalidInput: nobody can be asked.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InvalidInput(
            "Nobody can be asked whether this change is wanted, because stdin is no terminal",
            hint="add --yes to make it",
        )
    is_wanted = ask(f"{question} [y/N] ") in {"y", "yes"}
    if not is_wanted:
        remark("Nothing was changed")
    return is_wanted


def ask(question: str) -> str:
    """Return what the user says, in small letters; nothing when it was Ctrl-C or the end."""
    print(question, end="", file=sys.stderr, flush=True)
    return _answer().strip().lower()


def _answer() -> str:
    # The event loop's own handler would have Ctrl-C wait for the next line.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return sys.stdin.readline()
    except KeyboardInterrupt:
        remark("")
        return ""
    finally:
        signal.signal(signal.SIGINT, before)
