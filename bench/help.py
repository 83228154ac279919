"""`quarterdeck --help` against importing the library its command line is written with."""

import subprocess
import sys
import time
from collections.abc import AsyncIterator
from statistics import median

from bench.figures import best_and_median, held, times
from bench.homes import COMMAND, environment, new_home
from bench.report import Row, Section

TARGET = 1.3
REPEATS = 21
OURS = [COMMAND, "--help"]
PEER = [sys.executable, "-c", "import cyclopts"]
COLUMNS = ("command", "best / median", "import best / median", "ratio of medians", "target")
ABOUT = (
    'The peer is `python -c "import cyclopts"`. Both run to their end and take turns,'
    f" {REPEATS} times."
)


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    ours: list[float] = []
    peer: list[float] = []
    for _ in range(3 if quick else REPEATS):
        peer.append(_seconds(PEER))
        ours.append(_seconds(OURS))
    ratio = median(ours) / median(peer)
    cells = (
        "quarterdeck --help",
        best_and_median(ours),
        best_and_median(peer),
        times(ratio),
        held(ratio, TARGET, f"{TARGET}x"),
    )
    row = Row(cells, "the overview of all commands, printed to a pipe")
    yield Section("Help on the command line", ABOUT, COLUMNS, [row])


def _seconds(command: list[str]) -> float:
    with new_home() as home:
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment(home))
        return time.perf_counter() - start
