"""The metadata of many workspaces against the bare `task` commands that it takes."""

import os
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio

from bench.figures import held, milliseconds, times
from bench.report import Row, Section
from quarterdeck.clients.taskfile.binary import find_task
from quarterdeck.repositories.runtimes.metadata import AT_ONCE, MetadataCollector

AGENTS = 100
REPEATS = 3
COLD_SECONDS, CACHED_SECONDS = 2.5, 0.05
FIELDS = ("branch", "changes", "slow")
TASKFILE = """\
version: "3"
tasks:
  branch: {meta: {include_in_list: true}, cmds: [echo main]}
  changes: {meta: {include_in_list: true}, cmds: [echo 3]}
  slow: {meta: {include_in_list: false}, cmds: [sleep 1; echo 1]}
"""
COLUMNS = ("answer", "ready", "time", "bare task", "ratio", "target")
ABOUT = (
    f"{AGENTS} workspaces with three fields each, one of which takes a second, all asked at once."
    " An answer comes after 2.5 s at the latest, with what is ready by then; `complete` is how"
    " long it takes until everything is. The peer runs one bare `task` command a field,"
    f" {AT_ONCE} at once, with `xargs -P`. {REPEATS} rounds, medians."
)


@dataclass(frozen=True)
class Round:
    """What one round took, in seconds, and how many fields the first answer had."""

    cold: float
    ready: int
    complete: float
    cached: float
    bare: float


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    agents = 10 if quick else AGENTS
    with tempfile.TemporaryDirectory() as folder:
        workspaces = [_workspace(Path(folder) / str(number)) for number in range(agents)]
        rounds = [await _round(workspaces) for _ in range(1 if quick else REPEATS)]
    bare = median(r.bare for r in rounds)
    total = agents * len(FIELDS)
    ready = f"{median(r.ready for r in rounds):.0f} of {total}"
    cold = median(r.cold for r in rounds)
    complete = median(r.complete for r in rounds)
    cached = median(r.cached for r in rounds)
    all_ready = held(complete, COLD_SECONDS, "all under 2.5 s")
    yield Section(
        "Metadata of workspaces",
        ABOUT,
        COLUMNS,
        [
            Row(_cells("cold", ready, cold, bare, "-"), "the first answer"),
            Row(_cells("complete", f"{total} of {total}", complete, bare, all_ready), "all of it"),
            Row(
                _cells("cached", f"{total} of {total}", cached, bare, _cached_held(cached)),
                "the same answer again",
            ),
        ],
    )


def _cached_held(seconds: float) -> str:
    return held(seconds, CACHED_SECONDS, "under 50 ms")


def _cells(name: str, ready: str, seconds: float, bare: float, target: str) -> tuple[str, ...]:
    ratio = seconds / bare
    shown = times(ratio) if ratio >= 0.01 else "<0.01x"
    return (name, ready, milliseconds(seconds), milliseconds(bare), shown, target)


def _workspace(path: Path) -> Path:
    path.mkdir()
    (path / "Taskfile.yml").write_text(TASKFILE, encoding="utf-8")
    return path


async def _round(workspaces: list[Path]) -> Round:
    bare = _bare(workspaces)
    collector = MetadataCollector(cache_seconds=60)
    start = time.perf_counter()
    ready = first = await _ready(collector, workspaces)
    cold = complete = time.perf_counter() - start
    while ready < len(workspaces) * len(FIELDS):
        ready = await _ready(collector, workspaces)
        complete = time.perf_counter() - start
    start = time.perf_counter()
    await _ready(collector, workspaces)
    cached = time.perf_counter() - start
    await collector.close()
    return Round(cold, first, complete, cached, bare)


async def _ready(collector: MetadataCollector, workspaces: list[Path]) -> int:
    """Ask all workspaces at once; return how many fields had a value."""
    env, ready = dict(os.environ), list[int]()

    async def ask(workspace: Path) -> None:
        fields = await collector.collect(str(workspace), workspace, None, env)
        ready.append(sum(field.error is None for field in fields.values()))

    async with anyio.create_task_group() as tasks:
        for workspace in workspaces:
            tasks.start_soon(ask, workspace)
    return sum(ready)


def _bare(workspaces: list[Path]) -> float:
    lines = [f"{workspace} {field}" for workspace in workspaces for field in FIELDS]
    command = ["xargs", "-P", str(AT_ONCE), "-L", "1", str(find_task()), "--silent", "--dir"]
    start = time.perf_counter()
    subprocess.run(command, input="\n".join(lines), text=True, check=True, capture_output=True)
    return time.perf_counter() - start
