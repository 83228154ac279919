"""`quarterdeck logs`: the daemon's log, and what is added to it."""

import time
from collections import deque
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.options import Injected
from quarterdeck.cli.render import remark

LOOK_EVERY_SECONDS = 0.1


def logs(
    *,
    lines: Annotated[
        int, Parameter(name=("--lines", "-n"), help="How many of the last lines to show.")
    ] = 50,
    follow: Annotated[
        bool,
        Parameter(
            name=("--follow", "-f"),
            negative=(),
            show_default=False,
            help="Go on with what is added, until Ctrl-C.",
        ),
    ] = False,
    invocation: Injected,
) -> None:
    """Show the daemon's log."""
    from quarterdeck.daemon.log import log_path

    path = log_path(invocation.find_home())
    if not path.exists():
        remark(f"There is no log yet; a daemon writes it to {path}")
        if not follow:
            return
    seen = _print_last(path, lines)
    while follow:
        seen = _print_from(path, seen)
        time.sleep(LOOK_EVERY_SECONDS)


def _print_last(path: Path, count: int) -> "tuple[int, int]":
    """Print the last lines; return which file that was, and how far it was read."""
    if not path.exists():
        return 0, 0
    with path.open("rb") as log:
        last = deque(log, maxlen=max(count, 0))
        _write(b"".join(last))
        return path.stat().st_ino, log.tell()


def _print_from(path: Path, seen: "tuple[int, int]") -> "tuple[int, int]":
    """Print what is new, also when the log was started anew since."""
    inode, position = seen
    if not path.exists():
        return seen
    with path.open("rb") as log:
        now = path.stat().st_ino
        log.seek(position if now == inode else 0)
        _write(log.read())
        return now, log.tell()


def _write(text: bytes) -> None:
    if text:
        print(text.decode(errors="replace"), end="", flush=True)
