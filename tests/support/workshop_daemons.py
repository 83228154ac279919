"""Workshop daemons (`workshop_daemon.py`) as processes of a home, and what is left of daemons."""

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil

from quarterdeck.daemon.address import find, starting_alone
from quarterdeck.daemon.key import read_key
from tests.support.servers import environment, said_until_ready

SCRIPT = Path(__file__).with_name("workshop_daemon.py")
EVENT_SECONDS = 40


def state_of(home: Path) -> Path:
    """Return the QUARTERDECK_HOME of a user's home."""
    return home / "quarterdeck"


class Workshop:
    """A running workshop daemon: what its tools say, and the commands it takes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self._events: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._kept: list[tuple[str, str]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def await_event(self, event: str, label: str) -> None:
        """Wait until a tool says that it was entered, left or cancelled."""
        while (event, label) not in self._kept:
            self._kept.append(self._events.get(timeout=EVENT_SECONDS))
        self._kept.remove((event, label))

    def has_said(self, event: str, label: str) -> bool:
        self._kept += [self._events.get() for _ in range(self._events.qsize())]
        return (event, label) in self._kept

    def release(self, label: str) -> None:
        self._command("release", label)

    def change(self, name: str) -> None:
        """Add a tool and tell all clients."""
        self._command("change", name)
        self.await_event("changed", name)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def begin_to_end(self, home: Path) -> None:
        """Ask it to stop, and wait until it takes no more calls."""
        self.process.terminate()
        while find(state_of(home)) is not None:
            pass

    def _command(self, command: str, label: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command} {label}\n")
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                found = json.loads(line)
                self._events.put((found["event"], found["label"]))


@contextmanager
def workshop(home: Path, environ: Mapping[str, str] | None = None) -> Generator[Workshop]:
    """Be the daemon of a home, with the workshop's tools."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, SCRIPT],
        env={**environment(home), **(environ or {})},
        stdin=pipe,
        stdout=pipe,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            said_until_ready(process.stdout)
            yield Workshop(process)
        finally:
            process.kill()


class Succession:
    """One workshop daemon after the other, in one home."""

    def __init__(self, home: Path, environ: Mapping[str, str] | None = None) -> None:
        self.home = home
        self._environ = environ
        self._stack = ExitStack()
        self._current: Workshop | None = None

    @property
    def current(self) -> Workshop:
        if self._current is None or self._current.process.poll() is not None:
            end_daemons(self.home)  # a bridge may have started one meanwhile
            self._current = self._stack.enter_context(workshop(self.home, self._environ))
        return self._current

    def replace(self, how: signal.Signals = signal.SIGKILL) -> Workshop:
        """End the daemon and put another in its place; bridges wait and start none."""
        with starting_alone(state_of(self.home)):
            self.current.process.send_signal(how)
            self.current.process.wait(EVENT_SECONDS)
            return self.current

    def close(self) -> None:
        self._stack.close()
        end_daemons(self.home)


def http_client(home: Path) -> httpx2.Client:
    """Return a client of the daemon that is running."""
    address = find(state_of(home))
    assert address is not None
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {read_key(state_of(home))}",
    }
    return httpx2.Client(base_url=address.url, headers=headers)


def end_daemons(home: Path) -> None:
    """End every daemon of a home, also one that has not got as far as its lock."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()) == state_of(home):
                process.kill()
                process.wait(EVENT_SECONDS)


def kill_daemon_of(home: Path) -> None:
    process = daemon_process(home)
    process.kill()
    process.wait(EVENT_SECONDS)


def daemon_process(home: Path) -> Any:  # noqa: ANN401 - psutil has no types
    address = find(state_of(home))
    assert address is not None
    return psutil.Process(address.pid)
