"""Starting the daemon so that it outlives whoever started it, and stopping it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from quarterdeck.daemon.address import (
    Address,
    find,
    is_alive,
    is_ending,
    process_id,
    read_address,
    starting_alone,
)
from quarterdeck.daemon.environment import inherited
from quarterdeck.daemon.log import log_path, open_log
from quarterdeck.errors import DaemonFailed, TimedOut, Unavailable

START_SECONDS = 30
# Longer than a daemon drains (`server.drain_seconds` is at most 300).
STOP_SECONDS = 310
# Service managers wait some seconds before they start something again.
MANAGER_SECONDS = 15
HURRY_SECONDS = 0.5
LOOK_EVERY_SECONDS = 0.02

Say = Callable[[str], None]


def ensure_daemon(
    home: Path, environ: Mapping[str, str], *, say: Say, flags: Sequence[str] | None = None
) -> Address:
    """Return where the daemon of `home` answers, after starting it if need be.

    Of several that come at once, one starts it; in place of one that crashed, with its flags.
    `say` is told before a wait.
    """
    if found := find(home):
        return found
    with starting_alone(home):
        if found := find(home):
            return found
        crashed = read_address(home)
        if crashed and crashed.managed and (found := _started_by_manager(home, crashed, say)):
            return found
        given = flags if flags is not None else crashed.flags if crashed else ()
        return start_alone(home, environ, say=say, flags=given)


def start_alone(
    home: Path, environ: Mapping[str, str], *, say: Say, flags: Sequence[str] = ()
) -> Address:
    """Start a daemon and wait for it; the caller is the one that may (`starting_alone`).

    One that `quarterdeck up` or a service manager has begun to start needs no second.
    """
    if found := _await_end(home, say, or_answer=True):
        return found
    say("Starting the Quarterdeck daemon")
    with open_log(home) as log:
        said_before = log.tell()
        process = _spawn(home, environ, flags, log)
    began = time.monotonic()
    while time.monotonic() < began + START_SECONDS:
        if found := find(home):
            # When it ends one day, somebody has to take note, or a zombie stays.
            threading.Thread(target=process.wait, daemon=True).start()
            return found
        if (code := process.poll()) is not None and not is_alive(home):
            raise _failure(home, code, said_before)
        time.sleep(LOOK_EVERY_SECONDS)
    process.kill()
    process.wait()
    raise TimedOut(
        f"The daemon did not answer within {START_SECONDS} s",
        details={"log": str(log_path(home))},
        hint="'quarterdeck logs' shows how far it came",
    )


def stop_daemon(home: Path, *, say: Say, now: bool = False) -> bool:
    """Ask the daemon to finish, wait until it is gone, and return whether there was one.

    With `now`, it does not wait for the calls that are running.
    """
    pid = process_id(home)
    if pid is None:
        return False
    # Asked a second time, it does not finish what it has begun.
    if now or not is_ending(home):
        _terminate(pid)
    if now:
        _hurry(home, pid)
    _await_end(home, say)
    return True


def _hurry(home: Path, pid: int) -> None:
    # Not at once: two signals that a process has not seen yet are one.
    deadline = time.monotonic() + HURRY_SECONDS
    while is_alive(home):
        if time.monotonic() > deadline:
            _terminate(pid)
            return
        time.sleep(LOOK_EVERY_SECONDS)


def _terminate(pid: int) -> None:
    with suppress(ProcessLookupError):  # it may have ended since we looked
        os.kill(pid, signal.SIGTERM)


def restart_daemon(home: Path, environ: Mapping[str, str], *, say: Say) -> Address:
    """Stop the daemon, if there is one, and start it as the version that is installed now."""
    with starting_alone(home):
        before = find(home)
        if before is not None and before.managed:
            return _restart_managed(home, before, say)
        stop_daemon(home, say=say)
        return start_alone(home, environ, say=say, flags=before.flags if before else ())


@contextmanager
def paused(home: Path, environ: Mapping[str, str], *, say: Say) -> Generator[None]:
    """Have no daemon for a while, and nobody start one; afterwards it runs again if it did.

    One that a service manager keeps would be started in the middle of it; it is restarted at
    the end, when whatever it had read may have changed.
    """
    with starting_alone(home):
        before = find(home)
        if before is not None and before.managed:
            yield
            _restart_managed(home, before, say)
            return
        stop_daemon(home, say=say)
        try:
            yield
        finally:
            if before is not None:
                start_alone(home, environ, say=say, flags=before.flags)


def _restart_managed(home: Path, before: Address, say: Say) -> Address:
    from quarterdeck.daemon.control import restart

    if restart(home, before):
        _await_end(home, say)
        if found := _started_by_manager(home, before, say):
            return found
    raise Unavailable(
        "The service manager has not started the daemon again",
        details={"home": str(home)},
        hint="see 'quarterdeck service status'; 'quarterdeck up --detach' starts it without",
    )


def _started_by_manager(home: Path, before: Address, say: Say) -> Address | None:
    """Wait for the daemon that a service manager starts in place of one that ended."""
    say("Waiting for the service manager to start the Quarterdeck daemon")
    deadline = time.monotonic() + MANAGER_SECONDS
    while time.monotonic() < deadline:
        found = find(home)
        if found is not None and found.instance != before.instance:
            return found
        time.sleep(LOOK_EVERY_SECONDS)
    return None


def _await_end(home: Path, say: Say, *, or_answer: bool = False) -> Address | None:
    """Wait for a daemon that is on its way out; with `or_answer`, also for one on its way in."""
    began, told, before = time.monotonic(), False, find(home)
    while is_alive(home):
        if or_answer and (found := find(home)) and found != before:
            return found
        waited = time.monotonic() - began
        if waited > STOP_SECONDS:
            raise TimedOut(
                f"The daemon did not end within {STOP_SECONDS} s",
                details={"pid": process_id(home)},
                hint="'quarterdeck down --now' ends it without waiting for running calls",
            )
        if waited > 1 and not told:
            say("Waiting for the daemon to finish the calls that are running")
            told = True
        time.sleep(LOOK_EVERY_SECONDS)
    return None


def _spawn(
    home: Path, environ: Mapping[str, str], flags: Sequence[str], log: IO[str]
) -> "subprocess.Popen[bytes]":
    # -P: the working directory is no place to import from.
    command = [sys.executable, "-P", "-m", "quarterdeck", "up", "--in-background", *flags]
    return subprocess.Popen(  # noqa: S603 - our own program
        command,
        cwd=home,
        env=inherited(environ) | {"QUARTERDECK_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def _failure(home: Path, exit_code: int, said_before: int) -> DaemonFailed:
    """Return why a process did not become the daemon, in the words that it ended with."""
    path = log_path(home)
    lines = path.read_bytes()[said_before:].decode(errors="replace").splitlines()
    said = {name: text for name, _, text in (line.partition(": ") for line in lines)}
    complaint = said.get("error", f"its process ended with exit code {exit_code}")
    failure = DaemonFailed(exit_code, complaint, str(path))
    failure.hint = said.get("hint", failure.hint)
    return failure
