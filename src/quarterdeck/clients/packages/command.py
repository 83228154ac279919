"""Runs a program that fetches something, and passes on what it says."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from quarterdeck.errors import InstallFailed

Say = Callable[[str], None]

LAST_LINES = 5
LONGEST_LINE = 1024 * 1024


async def run(command: Sequence[str], package: str, say: Say) -> None:
    """Run a command to its end; when the caller goes away, all of it ends.

    Raises:
        InstallFailed: It ended with an error; its last lines say why.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        limit=LONGEST_LINE,
        # A group of its own, so that what it starts ends with it.
        start_new_session=True,
    )
    try:
        last = await _listen(process, say)
        code = await process.wait()
    finally:
        await _end(process)
    if code:
        problem = f"{Path(command[0]).name} ended with code {code}: {' | '.join(last)}"
        raise InstallFailed(package, problem, hint="mend that and try again; nothing was kept")


async def _listen(process: asyncio.subprocess.Process, say: Say) -> Sequence[str]:
    assert process.stdout is not None
    last: deque[str] = deque(maxlen=LAST_LINES)
    async for raw in process.stdout:
        if line := raw.decode(errors="replace").strip():
            last.append(line)
            say(line)
    return last


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.shield(process.wait())
