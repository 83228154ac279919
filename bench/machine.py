"""What the figures were taken on: the machine's kind, never its name."""

import os
import platform
import sqlite3
import tempfile
import time
from importlib.metadata import version
from statistics import median

import psutil

from bench.figures import milliseconds

PAGE = b"\0" * 4096
SYNCS = 200


def describe() -> str:
    """Return the machine and the versions as a Markdown list."""
    memory = psutil.virtual_memory().total / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("fastmcp", "mcp", "pydantic"))
    lines = (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, {platform.system()}",
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {packages}",
        f"one fsync of 4 KiB where the databases were: {milliseconds(fsync_seconds())} (median)",
    )
    return "".join(f"- {line}\n" for line in lines)


def load() -> str:
    """Return how busy the machine is, which belongs to what is measured next."""
    return f"Load average before these were measured: {os.getloadavg()[0]:.1f}\n"


def fsync_seconds() -> float:
    """Return how long the disk under the temporary folder takes to keep one page."""
    taken: list[float] = []
    with tempfile.TemporaryFile() as file:
        for _ in range(SYNCS):
            file.write(PAGE)
            file.flush()
            start = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    return median(taken)
