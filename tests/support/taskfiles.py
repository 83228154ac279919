"""Workspaces with Taskfiles, and fields that wait for a word instead of for time."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import anyio.to_thread
import psutil
import yaml

LISTED = {"include_in_list": True}
UNLISTED = {"include_in_list": False}
PATIENCE_SECONDS = 30


def field(*cmds: str, **more: object) -> Mapping[str, object]:
    """A task that is a field."""
    return {"meta": LISTED, "cmds": list(cmds), **more}


def write_taskfile(path: Path, tasks: Mapping[str, object], **more: object) -> Path:
    text = yaml.safe_dump({"version": "3", **more, "tasks": dict(tasks)}, sort_keys=False)
    path.write_text(text, encoding="utf-8")
    return path


class Gate:
    """A pipe that a field reads with `cat gate`: it waits there until it is told what to say."""

    def __init__(self, workspace: Path) -> None:
        self._path = workspace / "gate"
        os.mkfifo(self._path)

    async def open(self, word: str) -> None:
        with anyio.fail_after(PATIENCE_SECONDS):
            await anyio.to_thread.run_sync(self._say, word, abandon_on_cancel=True)

    def _say(self, word: str) -> None:
        self._path.write_text(word, encoding="utf-8")


def stranger(pid_file: str) -> str:
    """A command that leaves its session, notes its pid, and then waits at the gate."""
    program = (
        "import os; os.setsid() if os.getpid() != os.getsid(0) else None;"
        f" open('{pid_file}.new', 'w').write(str(os.getpid()));"
        f" os.rename('{pid_file}.new', '{pid_file}'); open('gate').read()"
    )
    return f'"{sys.executable}" -c "{program}"'


async def noted_pid(path: Path) -> int:
    await until(path.exists)
    return int(await anyio.Path(path).read_text(encoding="utf-8"))


async def until_gone(pid: int) -> None:
    """Wait for the end of a process; whoever inherits it may be slow to take note."""
    await until(lambda: not _is_alive(pid))


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 - another process makes it true
            await anyio.sleep(0.01)


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
