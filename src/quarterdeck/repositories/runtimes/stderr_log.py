"""What an agent writes to standard error: a file that does not grow without end."""

import os
from contextlib import suppress
from pathlib import Path

from quarterdeck.repositories.runtimes.wire_values import fit

MOST_BYTES = 4 * 2**20
_KEPT_BYTES = 256 * 1024
_TAIL_BYTES = 8 * 1024
_TAIL_LINES = 10


class StderrLog:
    """One agent's file; the agent appends to it by itself, so it is emptied, not exchanged."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._began_at = 0

    def begin(self) -> None:
        """Make room for a new process, whose lines start here."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.trim()
        self._began_at = self._size()

    def trim(self) -> None:
        """Move the end of a file that has grown too large to an older one, and empty it."""
        if self._size() <= self._most_bytes:
            return
        older = self.path.with_name(f"{self.path.name}.1")
        older.write_bytes(self._end(_KEPT_BYTES))
        older.chmod(0o600)
        os.truncate(self.path, 0)
        self._began_at = 0

    def with_last_words(self, why: str) -> str:
        """Return a reason, and what the process said last if it said anything."""
        size = min(_TAIL_BYTES, max(0, self._size() - self._began_at))
        lines = self._end(size).decode(errors="replace").strip().splitlines()
        said = fit("\n".join(lines[-_TAIL_LINES:]))
        return f"{why}; it said last:\n{said}" if said else why

    def remove(self) -> None:
        """Forget all of it."""
        for path in (self.path, self.path.with_name(f"{self.path.name}.1")):
            path.unlink(missing_ok=True)

    def _size(self) -> int:
        with suppress(FileNotFoundError):
            return self.path.stat().st_size
        return 0

    def _end(self, size: int) -> bytes:
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(max(0, self._size() - size))
            return file.read(size)
        return b""
