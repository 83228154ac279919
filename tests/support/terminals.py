"""A command at a terminal of its own, with everything typed ahead."""

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
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
