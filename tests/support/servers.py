"""The installed `quarterdeck` as a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from quarterdeck.daemon.address import process_id
from quarterdeck.daemon.key import read_key

QUARTERDECK = Path(sys.executable).with_name("quarterdeck")
END_SECONDS = 20


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a user who has nothing configured but the home."""
    return {"HOME": str(home), "PATH": os.defpath, "QUARTERDECK_HOME": str(home / "quarterdeck")}


@contextmanager
def process(*arguments: str, home: Path) -> Generator[subprocess.Popen[str]]:
    """Start a command with all streams piped; it is gone afterwards, however the test ends."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [QUARTERDECK, *arguments],
        env=environment(home),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        encoding="utf-8",
    ) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()
            kill_daemon(home)


def kill_daemon(home: Path) -> None:
    """End the daemon that a command may have left behind, which is what it is for."""
    if (pid := process_id(home / "quarterdeck")) is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def http_server(*arguments: str, home: Path) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """Start `quarterdeck up` on a free port; yield its base URL and its process."""
    with process("up", "--port", "0", *arguments, home=home) as started:
        yield _address(stream(started.stdout)), started


def key_of(home: Path) -> str:
    """Return the key of the server that was started for `home`."""
    key = read_key(home / "quarterdeck")
    assert key is not None, "the server makes it before it listens"
    return key


def bearer(secret: str) -> dict[str, str]:
    """Return the header that shows a key or a token."""
    return {"Authorization": f"Bearer {secret}"}


def stream(of_process: IO[str] | None) -> IO[str]:
    assert of_process is not None, "all streams are piped"
    return of_process


def said_until_ready(printed: IO[str] | None) -> list[str]:
    """Return what a server prints on its way to the point where it answers."""
    lines: list[str] = []
    while not lines or not lines[-1].startswith("Stop with"):
        line = stream(printed).readline()
        assert line, f"the server ended before it was ready: {lines}"
        lines.append(line)
    return lines


def _address(printed: IO[str]) -> str:
    lines = said_until_ready(printed)
    (dashboard,) = [line.split()[1] for line in lines if line.split()[0] == "Dashboard"]
    return dashboard.rstrip("/")
