"""Starting one agent from inside the keeper."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from quarterdeck.clients.processes.table import MARK, one_process

# From <linux/prctl.h>.
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
HAS_PRCTL = sys.platform == "linux"

# Loaded here, because little is safe between fork and exec.
_libc = ctypes.CDLL(None)


class CannotSpawn(Exception):
    """The words say why."""


class Agent:
    def __init__(self, agent_id: str, mark: str, process: "subprocess.Popen[bytes]") -> None:
        self.id = agent_id
        self.mark = mark
        self.pid = process.pid
        self._process = process
        # Nobody has waited for it yet, so it is in the table even if it has ended already.
        found = one_process(process.pid)
        self.started = found.started if found else 0.0

    @property
    def has_exited(self) -> bool:
        return self._process.returncode is not None

    def note_exit(self, code: int) -> None:
        """Take note of what the kernel told us; `Popen` must not ask it again."""
        self._process.returncode = code


def become_subreaper() -> bool:
    """Have orphans of the agents become our children; return whether the system does that."""
    return HAS_PRCTL and _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def spawn(request: Mapping[str, Any], files: Sequence[int]) -> Agent:
    """Start a program on three files, in a session of its own."""
    keeper = os.getpid()

    def die_with_the_keeper() -> None:
        if HAS_PRCTL:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != keeper:  # it was gone before we had asked
                os.kill(os.getpid(), signal.SIGKILL)

    environment: Mapping[str, str] = request["env"]
    try:
        process = subprocess.Popen(  # noqa: S603 - starting what it is told is what a keeper is for
            request["command"],
            cwd=request["cwd"],
            env=environment,
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            start_new_session=True,
            preexec_fn=die_with_the_keeper,  # noqa: PLW1509 - the keeper has one thread
        )
    except OSError as error:
        raise CannotSpawn(explained(error)) from error
    except (TypeError, ValueError, subprocess.SubprocessError) as error:
        raise CannotSpawn(str(error)) from error
    return Agent(request["id"], environment[MARK], process)


def explained(error: OSError) -> str:
    """Return what was wrong, and with what."""
    about = f": {os.fsdecode(error.filename)!r}" if error.filename else ""
    return f"{error.strerror or error}{about}"
