"""The processes of this machine, by the standard library alone.

Linux answers from /proc. Elsewhere `ps` does, which is slower, knows no sessions, tells starts
to the second, and shows the environment of the user's own, unprotected programs only.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

MARK = "QUARTERDECK_AGENT_MARK"
PROC = Path("/proc")
HAS_PROC = sys.platform == "linux"
PS_SECONDS = 10


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    started: float  # Linux: seconds since boot, which no clock change moves; else since the epoch
    is_zombie: bool


class Table:
    """One look at all of them."""

    def __init__(self, processes: Iterable[Process]) -> None:
        self._by_pid = {process.pid: process for process in processes}
        self._children: dict[int, list[int]] = {}
        for process in self._by_pid.values():
            self._children.setdefault(process.parent, []).append(process.pid)

    def __contains__(self, pid: int) -> bool:
        return pid in self._by_pid

    def __getitem__(self, pid: int) -> Process:
        return self._by_pid[pid]

    def find(self, pid: int) -> Process | None:
        return self._by_pid.get(pid)

    @property
    def pids(self) -> Sequence[int]:
        return list(self._by_pid)

    def children(self, pid: int) -> Sequence[int]:
        return self._children.get(pid, ())

    def family(self, eldest: Iterable[int]) -> set[int]:
        """Return `eldest`, as far as they are there, and all that descend from them."""
        found: set[int] = set()
        waiting = [pid for pid in eldest if pid in self]
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                waiting += self.children(pid)
        return found

    def ancestors(self, pid: int) -> set[int]:
        """Return `pid` and those that it descends from."""
        found: set[int] = set()
        while pid in self and pid not in found:
            found.add(pid)
            pid = self[pid].parent
        return found


def all_processes() -> Table:
    if not HAS_PROC:
        return Table(ps_processes(_ps("-A", "-o", "pid=,ppid=,pgid=,stat=,lstart=")))
    found = (_from_proc(int(name)) for name in os.listdir(PROC) if name.isdecimal())  # noqa: PTH208 - names alone, many times a second
    return Table(process for process in found if process is not None)


def one_process(pid: int) -> Process | None:
    if HAS_PROC:
        return _from_proc(pid)
    return all_processes().find(pid)


def own_children() -> list[int]:
    """Return the children of this process, quickly; none where the kernel does not list them."""
    try:
        return [int(pid) for pid in _content(f"/proc/self/task/{os.getpid()}/children").split()]
    except FileNotFoundError:
        return []


def marks(pids: Iterable[int]) -> dict[int, str]:
    """Return the agent marks that these processes were started with; those without are left out."""
    if not HAS_PROC:
        wanted = set(pids)
        found = ps_marks(_ps("-A", "-E", "-ww", "-o", "pid=,command="))
        return {pid: mark for pid, mark in found.items() if pid in wanted}
    found = {pid: _mark_from_proc(pid) for pid in pids}
    return {pid: mark for pid, mark in found.items() if mark is not None}


def boot_id() -> str:
    if HAS_PROC:
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return _run("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid").strip()


def since_epoch(started: float) -> float:
    """Return a process's start as psutil tells it."""
    if not HAS_PROC:
        return started
    lines = (PROC / "stat").read_text(encoding="ascii").splitlines()
    booted = next(line for line in lines if line.startswith("btime "))
    return started + float(booted.split()[1])


def ps_processes(listing: str) -> Iterator[Process]:
    """Read lines of pid, parent, group, state and start; a group stands for a session."""
    for line in listing.splitlines():
        pid, parent, group, state, began = line.split(maxsplit=4)
        started = time.mktime(time.strptime(began.strip()))
        yield Process(int(pid), int(parent), int(group), started, state[0] == "Z")


def ps_marks(listing: str) -> dict[int, str]:
    """Read lines of pid, command and environment."""
    found: dict[int, str] = {}
    for line in listing.splitlines():
        pid, *words = line.split()
        for word in words:
            if word.startswith(f"{MARK}="):
                found[int(pid)] = word.partition("=")[2]
    return found


def _from_proc(pid: int) -> Process | None:
    try:
        content = _content(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):  # it ended since we looked
        return None
    # The name stands in brackets and may hold anything, brackets and blanks included.
    fields = content[content.rindex(b")") + 2 :].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return Process(pid, int(fields[1]), int(fields[3]), started, fields[0] in {b"Z", b"X"})


def _mark_from_proc(pid: int) -> str | None:
    try:
        content = _content(f"/proc/{pid}/environ")
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # ended, or somebody else's
        return None
    wanted = f"{MARK}=".encode()
    found = (line for line in content.split(b"\0") if line.startswith(wanted))
    return next((os.fsdecode(line.removeprefix(wanted)) for line in found), None)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - a path object costs as much as the reading
        return file.read()


def _ps(*arguments: str) -> str:
    return _run("/bin/ps", *arguments)


def _run(*command: str) -> str:
    ran = subprocess.run(  # noqa: S603 - a program of the system, by its path
        command, capture_output=True, check=True, timeout=PS_SECONDS, env={"LC_ALL": "C"}
    )
    return os.fsdecode(ran.stdout)
