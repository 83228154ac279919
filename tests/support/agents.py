"""Agent processes of the tests: started through a keeper, watched, and never left behind."""

import json
import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from quarterdeck.clients.processes.child import Child
from quarterdeck.clients.processes.keeper import Keeper

SUPPORT = Path(__file__).parent
FAMILY = (sys.executable, "-S", str(SUPPORT / "family.py"))
PYTHON = (sys.executable, "-S", "-u", "-c")
END_SECONDS = 10
MARK = "QUARTERDECK_AGENT_MARK"


async def started(keeper: Keeper, folder: Path, *command: str) -> Child:
    return await keeper.spawn(command, cwd=folder, env={}, stderr=folder / "stderr")


async def members(family: Child) -> list[psutil.Process]:
    """Return both processes of a `family.py`, once they run."""
    return processes(json.loads(await family.stdout.readline()))


def processes(pids: Iterable[int]) -> list[psutil.Process]:
    return [psutil.Process(pid) for pid in pids]


def left_of(watched: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Wait until they are gone, for as long as is bearable, and return those that are not."""
    _, left = psutil.wait_procs(watched, END_SECONDS)
    return [process for process in left if is_alive(process)]


def is_alive(process: psutil.Process) -> bool:
    """Say so; one that only waits to be taken note of is not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def marked(node: str) -> list[psutil.Process]:
    """Return the processes that began with a mark of this node."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK, "").startswith(f"{node}:"):
                found.append(process)
    return found


def recorded(folder: Path) -> list[str]:
    """Return the names of the records of running agents."""
    return sorted(path.name for path in folder.glob("*.json"))


@contextmanager
def nothing_left_of(node: str) -> Generator[None]:
    try:
        yield
    finally:
        kill(marked(node))


@contextmanager
def running(*command: str, mark: str | None = None) -> Generator[psutil.Popen]:
    """Run a program that no keeper started; it is gone afterwards."""
    environ = {name: value for name, value in os.environ.items() if name != MARK}
    process = psutil.Popen(command, env=environ | ({MARK: mark} if mark else {}))
    try:
        yield process
    finally:
        kill([process])
        process.wait()


def kill(doomed: Iterable[psutil.Process]) -> None:
    for process in doomed:
        with suppress(psutil.NoSuchProcess):
            process.kill()
