"""A project's own command that readies a workspace."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import psutil

from quarterdeck.clients.git.environment import without_repository
from quarterdeck.clients.git.program import end_group, ended, signal_group
from quarterdeck.errors import SetupFailed

Report = Callable[[str], Awaitable[None]]

_LAST_LINES = 20
_LONGEST_LINE = 2000
_SAME_SECONDS = 0.5
# It begins once it is noted who it is: of a daemon that is killed before, nothing is left.
_GATE = 'read -r _ && exec /bin/sh -c "$0" < /dev/null'


async def run_setup(
    command: str, path: Path, report: Report, *, mark: Path, deadline_seconds: float
) -> None:
    """Run a shell command in a workspace, and all it starts only as long as we wait for it."""
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        _GATE,
        command,
        cwd=path,
        env=_environment(path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    last: deque[str] = deque(maxlen=_LAST_LINES)
    listening = asyncio.ensure_future(_pass_on(process, report, last))
    try:
        _note_process(mark, process.pid)
        _let_go(process)
        async with asyncio.timeout(deadline_seconds):
            code = await ended(process)
            # What it left in the background would keep its output open.
            signal_group(process.pid, signal.SIGKILL)
            await listening
    except TimeoutError as error:
        problem = f"did not end within {deadline_seconds:g} seconds"
        raise SetupFailed(command, problem, list(last)) from error
    finally:
        listening.cancel()
        await end_group(process)
    if code:
        raise SetupFailed(command, f"ended with code {code}", list(last))


def _let_go(process: asyncio.subprocess.Process) -> None:
    assert process.stdin
    process.stdin.write(b"\n")
    process.stdin.close()


def end_left_over(mark: Path) -> None:
    """End the setup of a daemon that was killed; a process that only has its number is spared."""
    words = mark.read_text(encoding="ascii").split()
    if not words:
        return
    with suppress(psutil.Error, ProcessLookupError, PermissionError):
        leader, created = int(words[0]), float(words[1])
        if abs(psutil.Process(leader).create_time() - created) < _SAME_SECONDS:
            os.killpg(leader, signal.SIGKILL)


def _note_process(mark: Path, pid: int) -> None:
    with suppress(psutil.NoSuchProcess):
        mark.write_text(f"{pid} {psutil.Process(pid).create_time()}", encoding="ascii")


async def _pass_on(process: asyncio.subprocess.Process, report: Report, last: deque[str]) -> None:
    assert process.stdout
    rest = b""
    while chunk := await process.stdout.read(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > _LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        for line in lines:
            await _tell(line, report, last)
    if rest:
        await _tell(rest, report, last)


async def _tell(line: bytes, report: Report, last: deque[str]) -> None:
    text = line.decode("utf-8", "replace").rstrip("\r")[:_LONGEST_LINE]
    last.append(text)
    await report(text)


def _environment(path: Path) -> dict[str, str]:
    # Our own variables may hold credentials, and are no concern of a project's.
    kept = {
        name: value
        for name, value in without_repository(os.environ).items()
        if not name.startswith("QUARTERDECK_")
    }
    return {**kept, "PWD": str(path)}
