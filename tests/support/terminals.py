"""A command at a terminal of its own: with everything typed ahead, or line by line."""

import os
import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from tests.support.servers import QUARTERDECK

END_SECONDS = 40


class Session(NamedTuple):
    """The exit code, and all that the terminal showed."""

    code: int
    shown: str


def at_terminal(*arguments: str, environ: Mapping[str, str], typed: str = "") -> Session:
    """Run a command to its end."""
    primary, secondary = os.openpty()
    os.write(primary, typed.encode())
    process = subprocess.Popen(
        [QUARTERDECK, *arguments],
        env=dict(environ),
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
    )
    try:
        os.close(secondary)
        shown = _until_end(primary)
        return Session(process.wait(END_SECONDS), shown.decode().replace("\r\n", "\n"))
    finally:
        os.close(primary)
        process.kill()
        process.wait()


def _until_end(primary: int) -> bytes:
    shown = b""
    # Linux reports the end of the last process at the terminal as an error.
    with suppress(OSError):
        while part := os.read(primary, 65536):
            shown += part
    return shown


class Terminal:
    """A terminal that somebody sits at."""

    def __init__(self, process: "subprocess.Popen[bytes]", primary: int) -> None:
        self._process = process
        self._primary = primary
        self._shown = ""

    def type(self, text: str) -> None:
        os.write(self._primary, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def read_until(self, text: str) -> str:
        """Return what is shown from here on, up to `text`; pytest-timeout is the limit."""
        while text not in self._shown:
            part = os.read(self._primary, 65536).decode(errors="replace")
            self._shown += part.replace("\r\n", "\n")
        before, _, self._shown = self._shown.partition(text)
        return before + text

    def code(self) -> int:
        return self._process.wait(END_SECONDS)


@contextmanager
def terminal(*arguments: str, environ: Mapping[str, str]) -> Generator[Terminal]:
    """Start a command at a terminal; it is gone afterwards."""
    primary, secondary = os.openpty()
    process = subprocess.Popen(
        [QUARTERDECK, *arguments],
        env=dict(environ),
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
    )
    try:
        os.close(secondary)
        yield Terminal(process, primary)
    finally:
        process.kill()
        process.wait()
        os.close(primary)
