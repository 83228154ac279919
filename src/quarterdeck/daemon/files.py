"""Files that nobody else may read."""

import os
from pathlib import Path
from typing import IO


def open_private(path: Path, mode: str) -> IO[str]:
    """Open a text file; if that makes it, it is the owner's alone from the start."""
    return open(path, mode, encoding="utf-8", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
