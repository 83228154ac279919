"""One field as a process in a session of its own, so that all it starts can be ended with it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil
from anyio.abc import ByteReceiveStream, Process

MOST_OUTPUT = 4096
OPTIONS = ("--silent", "--exit-code", "--color=false")
# What a process in the background may take, once `task` has ended, to let go of the pipe.
GRACE_SECONDS = 0.2


@dataclass(frozen=True)
class Finished:
    """What a field left behind: `exit_code` is negative for a signal."""

    exit_code: int
    output: bytes
    complaint: bytes


class TooMuchOutput(Exception):
    """A field printed more than it may."""


async def run_field(
    name: str, *, task: Path, taskfile: Path, workspace: Path, env: Mapping[str, str]
) -> Finished:
    """Run one task to its end; however this ends, the whole process group is gone.

    Raises:
        TooMuchOutput: It printed more than `MOST_OUTPUT`, and was ended there.
        OSError: The process could not be started.
    """
    where = ["--taskfile", str(taskfile), "--dir", str(workspace)]
    async with started([str(task), *OPTIONS, *where, name], cwd=workspace, env=env) as process:
        return await _finished(process)


@asynccontextmanager
async def started(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str]
) -> AsyncGenerator[Process]:
    """Start a process in a session of its own, and leave nothing of it behind."""
    process = await anyio.open_process(
        command, stdin=subprocess.DEVNULL, env=dict(env), cwd=cwd, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            _kill_tree(process.pid)
        with anyio.CancelScope(shield=True):
            await process.wait()
            await process.aclose()


async def _finished(process: Process) -> Finished:
    output, complaint = Kept(), Kept()
    assert process.stdout is not None
    assert process.stderr is not None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_keep, process.stderr, complaint)
        tasks.start_soon(_keep, process.stdout, output)
        await _ended(process, output)
        tasks.cancel_scope.deadline = anyio.current_time() + GRACE_SECONDS
    if output.is_too_much:
        raise TooMuchOutput
    assert process.returncode is not None
    return Finished(process.returncode, bytes(output.content), bytes(complaint.content))


class Kept:
    """The beginning of what a stream says, and whether there was more."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.overflowed = anyio.Event()

    @property
    def is_too_much(self) -> bool:
        return self.overflowed.is_set()


async def _keep(stream: ByteReceiveStream, kept: Kept) -> None:
    async for chunk in stream:
        kept.content += chunk[: MOST_OUTPUT - len(kept.content) + 1]
        if len(kept.content) > MOST_OUTPUT:
            kept.overflowed.set()


async def _ended(process: Process, output: Kept) -> None:
    """Wait for the end of the process, or for the output that is too much."""
    async with anyio.create_task_group() as tasks:

        async def until_overflow() -> None:
            await output.overflowed.wait()
            _kill_tree(process.pid)

        tasks.start_soon(until_overflow)
        await swept(process)
        tasks.cancel_scope.cancel()


async def swept(process: Process) -> None:
    """Wait for the end of a process, and end what it left in the background."""
    await process.wait()
    # At once: as soon as the group is empty, its number may become somebody else's.
    _kill_group(process.pid)


def _kill_tree(pid: int) -> None:
    """Kill a process that still runs, its group, and children that left the group."""
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    # macOS answers EPERM for a group of which only the unreaped leader is left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
