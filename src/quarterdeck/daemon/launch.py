"""Starting the daemon so that it outlives whoever started it, and stopping it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
from quarterdeck.errors import DaemonFailed, TimedOut

START_SECONDS = 30
# Longer than a daemon drains (`server.drain_seconds` is at most 300).
STOP_SECONDS = 310
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
        crashed = read_address(home)
        if flags is None:
            flags = crashed.flags if crashed else ()
        return find(home) or start_alone(home, environ, say=say, flags=flags)


def start_alone(
    home: Path, environ: Mapping[str, str], *, say: Say, flags: Sequence[str] = ()
) -> Address:
    """Start a daemon and wait for it; the caller is the one that may (`starting_alone`)."""
    _await_end(home, say)
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
        before = read_address(home)
        stop_daemon(home, say=say)
        return start_alone(home, environ, say=say, flags=before.flags if before else ())


def _await_end(home: Path, say: Say) -> None:
    """Wait for a daemon that is on its way out."""
    began, told = time.monotonic(), False
    while is_alive(home):
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
