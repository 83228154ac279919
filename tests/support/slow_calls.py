"""Calls that run for as long as a test wants, on a daemon with a tool that waits for its word."""

import socket
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from quarterdeck.daemon.address import find
from tests.support.daemons import deck_home
from tests.support.servers import END_SECONDS, environment

PROGRAM = Path(__file__).with_name("slow_daemon.py")


class SlowCall:
    """The test's end of one call: it learns that the call runs, and lets it go."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._listener.settimeout(END_SECONDS)
        self._connected: socket.socket | None = None

    @property
    def port(self) -> int:
        """Return the argument that the tool `wait` takes."""
        return self._listener.getsockname()[1]

    def await_start(self) -> None:
        """Return once the daemon runs the call."""
        self._connected, _ = self._listener.accept()
        self._connected.settimeout(END_SECONDS)

    def let_go(self, answer: str) -> None:
        """Have the call return `answer`."""
        assert self._connected is not None, "the call runs"
        self._connected.sendall(f"{answer}\n".encode())

    def await_end(self) -> None:
        """Return once the call has ended, or was made to end."""
        assert self._connected is not None, "the call runs"
        assert self._connected.recv(1) == b""

    def close(self) -> None:
        if self._connected is not None:
            self._connected.close()


@contextmanager
def slow_call() -> Generator[SlowCall]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        call = SlowCall(listener)
        try:
            yield call
        finally:
            call.close()


@contextmanager
def slow_daemon(
    *arguments: str,
    home: Path,
    python: Path = Path(sys.executable),
    environ: Mapping[str, str] | None = None,
) -> Generator["subprocess.Popen[str]"]:
    """Run a daemon that has the tool `wait`; it is gone afterwards."""
    with subprocess.Popen(
        [python, PROGRAM, "up", "--port", "0", *arguments],
        env=environment(home) | dict(environ or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("Stop with"):
                    break
            assert find(deck_home(home)) is not None, "the daemon answers"
            yield process
        finally:
            process.kill()
