"""From the start of a process to its first answer over stdio."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.figures import best_and_median, held, times
from bench.homes import COMMAND, daemon_in, environment, new_home, stop
from bench.report import Row, Section

REPEATS = 15
ATTACHED = [COMMAND, "mcp"]
STANDALONE = [COMMAND, "mcp", "--standalone"]
BARE = [sys.executable, str(Path(__file__).with_name("bare.py"))]
COLUMNS = ("start", "best / median", "bare best / median", "ratio of medians", "target")
ABOUT = (
    "Time from starting the process to its first answer on stdout. The peer is a script with one"
    f" FastMCP tool. All take turns, {REPEATS} times."
)


class Kind(NamedTuple):
    """One way to start, the ratio to hold, and what it is."""

    name: str
    target: float
    about: str


KINDS = (
    Kind("attached", 1.0, "`quarterdeck mcp` while the daemon runs"),
    Kind("cold", 2.5, "`quarterdeck mcp` that starts the daemon first; its database is there"),
    Kind("cold, fresh home", 2.5, "the same in an empty folder: the database is made first"),
    Kind("standalone", 1.5, "`quarterdeck mcp --standalone` on a home whose database is there"),
    Kind("standalone, fresh home", 1.5, "the same in an empty folder: the database is made first"),
)

_CLIENT = {"name": "bench", "version": "1"}
REQUESTS = {
    "server/discover": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": _CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT},
}


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    repeats = 3 if quick else REPEATS
    rows = [row for method in REQUESTS for row in _compared(method, repeats)]
    yield Section("Start to first answer over stdio", ABOUT, COLUMNS, rows)


def _compared(method: str, repeats: int) -> list[Row]:
    with ExitStack() as cleanup:
        starts = _starts(cleanup, method)
        for start in starts.values():
            start()
        taken: dict[str, list[float]] = {name: [] for name in starts}
        for _ in range(repeats):
            for name, start in starts.items():
                taken[name].append(start())
    return [_row(method, kind, taken[kind.name], taken["bare"]) for kind in KINDS]


def _starts(cleanup: ExitStack, method: str) -> dict[str, Callable[[], float]]:
    served, cold, standalone = (cleanup.enter_context(new_home()) for _ in range(3))
    cleanup.enter_context(daemon_in(served))

    def timed(command: list[str], home: Path) -> float:
        return seconds_to_answer(command, home, method)

    def timed_fresh(command: list[str]) -> float:
        with new_home() as home:
            return timed_and_stopped(command, home)

    def timed_and_stopped(command: list[str], home: Path) -> float:
        try:
            return timed(command, home)
        finally:
            stop(home)

    return {
        "bare": lambda: timed(BARE, standalone),
        "attached": lambda: timed(ATTACHED, served),
        "cold": lambda: timed_and_stopped(ATTACHED, cold),
        "cold, fresh home": lambda: timed_fresh(ATTACHED),
        "standalone": lambda: timed(STANDALONE, standalone),
        "standalone, fresh home": lambda: timed_fresh(STANDALONE),
    }


def _row(method: str, kind: Kind, ours: Sequence[float], bare: Sequence[float]) -> Row:
    ratio = median(ours) / median(bare)
    cells = (
        f"{method}, {kind.name}",
        best_and_median(ours),
        best_and_median(bare),
        times(ratio),
        held(ratio, kind.target, f"{kind.target}x"),
    )
    return Row(cells, kind.about)


def seconds_to_answer(command: list[str], home: Path, method: str) -> float:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": REQUESTS[method]}
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(home),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        taken = time.perf_counter() - start
        # Leaving the block closes stdin, and with that the server ends.
    assert "result" in json.loads(answer), "a start that fails is not measured"
    return taken
