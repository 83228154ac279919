"""Living processes as locked files: the kernel lets go of a lock when its holder is gone."""

import fcntl
import os
import uuid
from pathlib import Path
from typing import IO


class FilePresence:
    """Implements `Presence` in the home folder, which is never on a network file system."""

    def __init__(self, home: Path) -> None:
        """Locks are kept under `home/run`."""
        self._folder = home / "run"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._held: dict[str, IO[str]] = {}
        self.node_id = _node_id(home / "node")

    def announce(self, daemon_id: str) -> None:
        """Hold a lock until the process ends, however it ends."""
        file = self._path(daemon_id).open("w")
        fcntl.flock(file, fcntl.LOCK_EX)
        self._held[daemon_id] = file

    def is_alive(self, daemon_id: str) -> bool:
        """Return whether somebody holds the lock."""
        if daemon_id in self._held:
            return True
        try:
            with self._path(daemon_id).open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def forget(self, daemon_id: str) -> None:
        """Remove the file of a process that is gone, or is going."""
        self._path(daemon_id).unlink(missing_ok=True)
        if file := self._held.pop(daemon_id, None):
            file.close()

    def _path(self, daemon_id: str) -> Path:
        return self._folder / f"{daemon_id}.lock"


def _node_id(path: Path) -> str:
    """Return the id kept in `path`; of several processes that make one at once, one wins."""
    if not path.exists():
        node_id = str(uuid.uuid4())
        # Not named by process id: two containers that share a home may both be process 1.
        draft = path.with_name(f"node.{node_id}")
        draft.write_text(node_id, encoding="utf-8")
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text(encoding="utf-8").strip()
