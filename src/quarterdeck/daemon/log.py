"""Where the daemon's log is."""

from pathlib import Path
from typing import IO

from quarterdeck.daemon.files import open_private


def log_path(home: Path) -> Path:
    return home / "logs" / "daemon.log"


def open_log(home: Path) -> IO[str]:
    """Open the log to append to it."""
    path = log_path(home)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return open_private(path, "a")
