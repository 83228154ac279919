"""`quarterdeck logs`: the daemon's log, and what is added to it."""

import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from quarterdeck.cli.options import Injected
from quarterdeck.cli.render import remark

LOOK_EVERY_SECONDS = 0.1


class Seen(NamedTuple):
    """Which file was shown, and how far."""

    inode: int
    position: int


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


def _print_last(path: Path, count: int) -> Seen:
    """Print the last lines."""
    if not path.exists():
        return Seen(0, 0)
    with path.open("rb") as log:
        last = deque(log, maxlen=max(count, 0))
        _write(b"".join(last))
        return Seen(os.fstat(log.fileno()).st_ino, log.tell())


def _print_from(path: Path, seen: Seen) -> Seen:
    """Print what is new, also when the log was started anew since."""
    try:
        log = path.open("rb")
    except FileNotFoundError:
        return seen
    with log:
        inode = os.fstat(log.fileno()).st_ino
        if inode != seen.inode:
            _print_end(path.with_name(f"{path.name}.1"), seen)
            seen = Seen(inode, 0)
        log.seek(seen.position)
        _write(log.read())
        return Seen(inode, log.tell())


def _print_end(set_aside: Path, seen: Seen) -> None:
    """Print what was added to the log that was shown before the next one was started."""
    if set_aside.exists() and set_aside.stat().st_ino == seen.inode:
        with set_aside.open("rb") as log:
            log.seek(seen.position)
            _write(log.read())


def _write(text: bytes) -> None:
    # As it is: a read may end in the middle of a letter.
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
