"""An agent of the tests: starts a process that leaves it behind, and tells both process ids.

The other one takes a session of its own and has no parent any longer. With `stubborn`, neither
minds being asked to end; with `scrubbed`, the other one has an empty environment.
"""

import json
import os
import signal
import sys

SCRUBBED = "import os, signal; os.write(1, b'%d\\n' % os.getpid()); signal.pause()"


def main(*manners: str) -> None:
    if "stubborn" in manners:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    other = leave_behind(is_scrubbed="scrubbed" in manners)
    # One write, because several may share where it goes.
    os.write(1, json.dumps([os.getpid(), other]).encode() + b"\n")
    while True:
        signal.pause()


def leave_behind(*, is_scrubbed: bool) -> int:
    reads, writes = os.pipe()
    if (between := os.fork()) == 0:
        os.setsid()
        if os.fork() == 0:
            _stay(writes, is_scrubbed=is_scrubbed)
        os._exit(0)
    os.waitpid(between, 0)
    os.close(writes)
    with os.fdopen(reads) as told:
        return int(told.readline())


def _stay(writes: int, *, is_scrubbed: bool) -> None:
    if is_scrubbed:
        os.dup2(writes, 1)
        os.execve(sys.executable, [sys.executable, "-c", SCRUBBED], {})  # noqa: S606 - this very Python
    os.write(writes, b"%d\n" % os.getpid())
    os.close(writes)
    while True:
        signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
