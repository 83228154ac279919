"""Changes to files of the user: shown first, and made when the user says so."""

import difflib
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


def may_change(*, yes: bool) -> bool:
    """Tell whether the shown change is wanted.

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
    print("Make this change? [y/N] ", end="", file=sys.stderr, flush=True)
    is_wanted = sys.stdin.readline().strip().lower() in {"y", "yes"}
    if not is_wanted:
        remark("Nothing was changed")
    return is_wanted
