"""Unfinished work on disk: named so that nobody takes it for finished, and never left behind."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

SUFFIX = ".partial"
# Younger ones may be about to be locked.
ABANDONED_SECONDS = 60


def new_scratch(parent: Path) -> "Scratch":
    """Make a folder of ours alone in `parent`; those that killed processes left are removed."""
    parent.mkdir(mode=0o700, exist_ok=True)
    for left in parent.glob(f".*{SUFFIX}"):
        _remove_abandoned(left)
    return Scratch(Path(tempfile.mkdtemp(prefix=".", suffix=SUFFIX, dir=parent)))


class Scratch:
    """A folder that is locked as long as its process works in it."""

    def __init__(self, path: Path) -> None:
        """Take over `path`, which is ours already."""
        self.path = path
        self._lock = os.open(path, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Remove the folder and everything in it; safe to repeat."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_error: object) -> None:
        self.remove()


@contextmanager
def unfinished(target: Path) -> Generator[Path]:
    """Yield a private file to write; it becomes `target` when all went well, else it is gone."""
    handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=SUFFIX, dir=target.parent)
    draft = Path(name)
    try:
        with suppress(OSError):  # a backup may go to a disk that knows no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield draft
        os.fsync(handle)
        draft.replace(target)
        sync_folder(target.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power loss."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_abandoned(left: Path) -> None:
    with suppress(OSError):
        if time.time() - left.stat().st_mtime < ABANDONED_SECONDS:
            return
        handle = os.open(left, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        finally:
            os.close(handle)
