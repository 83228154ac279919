"""Entries of a log at a terminal: a message that goes on is continued where it ended."""

import sys
from collections.abc import Callable
from typing import Any

from quarterdeck.cli.render import printable, when

Entry = dict[str, Any]
Lead = Callable[[Entry], str]


def stamped(entry: Entry) -> str:
    """Return the time, the level and the speaker."""
    return f"{when(entry['timestamp'])} {entry['level']:<5} {entry['role']}: "


def spoken(entry: Entry) -> str:
    """Return a mark for what is not said by the agent."""
    marks = {"task": "> ", "message": "", "thought": "~ ", "question": "? ", "error": "! "}
    return marks.get(entry["kind"], "* ")


class Printer:
    """Prints entries as they come; what goes on over lines is set in."""

    def __init__(self, lead: Lead) -> None:
        """`lead` is what an entry begins with."""
        self._lead = lead
        self._seq = 0
        self._is_open = False

    def show(self, entry: Entry) -> None:
        """Print an entry, or what is new of the last one."""
        is_new = entry["seq"] != self._seq
        if is_new:
            self.end()
            self._seq = entry["seq"]
            sys.stdout.write(self._lead(entry))
        sys.stdout.write(_clean(entry["message"]))
        self._is_open = True
        sys.stdout.flush()

    def end(self) -> None:
        """End the line, if one is open."""
        if self._is_open:
            sys.stdout.write("\n")
            sys.stdout.flush()
        self._is_open, self._seq = False, 0


def _clean(text: str) -> str:
    return "\n  ".join(printable(line.expandtabs(4)) for line in text.split("\n"))
