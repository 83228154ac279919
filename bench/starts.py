"""From the start of a process to its first answer over stdio."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.figures import best_and_median, held, times
from bench.homes import COMMAND, environment, new_home
from bench.report import Row, Section

TARGET = 1.5
REPEATS = 15
OURS = [COMMAND, "mcp", "--standalone"]
BARE = [sys.executable, str(Path(__file__).with_name("bare.py"))]
COLUMNS = ("start", "best / median", "bare best / median", "ratio of medians", "target")
ABOUT = (
    "Time from starting the process to its first answer on stdout. The peer is a script with one"
    f" FastMCP tool. All take turns, {REPEATS} times."
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
        existing = cleanup.enter_context(new_home())
        starts: dict[str, Callable[[], float]] = {
            "bare": lambda: seconds_to_answer(BARE, existing, method),
            "existing home": lambda: seconds_to_answer(OURS, existing, method),
            "fresh home": lambda: seconds_to_answer(
                OURS, cleanup.enter_context(new_home()), method
            ),
        }
        for start in starts.values():
            start()
        taken: dict[str, list[float]] = {name: [] for name in starts}
        for _ in range(repeats):
            for name, start in starts.items():
                taken[name].append(start())
    return [
        _row(method, name, taken[name], taken["bare"]) for name in ("existing home", "fresh home")
    ]


def _row(method: str, name: str, ours: Sequence[float], bare: Sequence[float]) -> Row:
    ratio = median(ours) / median(bare)
    about = {
        "existing home": "`quarterdeck mcp --standalone` on a home whose database is there",
        "fresh home": "the same in an empty folder: the database is created and migrated first",
    }
    cells = (
        f"{method}, {name}",
        best_and_median(ours),
        best_and_median(bare),
        times(ratio),
        held(ratio, TARGET, f"{TARGET}x"),
    )
    return Row(cells, about[name])


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
