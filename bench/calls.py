"""A traced, validated tool call against a FastMCP tool that does nothing."""

import itertools
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from statistics import median

import anyio

from bench.cases import CASES, Case
from bench.figures import held, milliseconds, times
from bench.report import Row, Section
from bench.sides import Era, Pair, Side, in_memory, over_stdio

TARGET = 1.25
AT_ONCE = (1, 32)
ERAS: dict[Era, str] = {"auto": "2026-07-28", "legacy": "2025-11-25"}
CALLS = 160
REPEATS = 25
COLUMNS = (
    "call",
    "at once",
    "CPU",
    "bare CPU",
    "ratio",
    "p50",
    "bare p50",
    "ratio",
    "target",
)
ABOUT = (
    "The peer is a FastMCP server whose tools have the same signatures and answer with the same"
    " models, without validating more than FastMCP does, storing or tracing anything. Both are up"
    f" at the same time and take turns: {REPEATS} times {CALLS} calls each, medians of these."
    " Quarterdeck answers after the commit, with `synchronous = FULL`, so that the answer"
    " survives a power loss."
)


@dataclass
class Figures:
    """What one side needed: CPU seconds a call in each batch, and each call's latency."""

    cpu: list[float] = field(default_factory=list[float])
    latencies: list[float] = field(default_factory=list[float])


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    async with in_memory() as pair:
        about = ABOUT + " The CPU time is that of client and server together, in one process."
        yield Section("A call, in memory", about, COLUMNS, await _rows(pair, quick=quick))
    for era, protocol in ERAS.items():
        async with over_stdio(era) as pair:
            title = f"A call, over stdio (protocol {protocol})"
            about = "As above, with processes of their own: CPU is that of the server's process."
            yield Section(title, about, COLUMNS, await _rows(pair, quick=quick))


async def _rows(pair: Pair, *, quick: bool) -> list[Row]:
    numbers = itertools.count()
    return [
        _row(case, at_once, *await in_turns(pair, case, at_once, numbers, quick=quick))
        for case in CASES
        for at_once in AT_ONCE
    ]


async def in_turns(
    pair: Pair, case: Case, at_once: int, numbers: Iterable[int], *, quick: bool
) -> tuple[Figures, Figures]:
    """Measure both sides in turns, so that what slows the machine slows both."""
    ours, bare = Figures(), Figures()
    calls, repeats = (96, 2) if quick else (CALLS, REPEATS)
    for side in (pair.bare, pair.ours):
        await _batch(side, case, at_once, itertools.islice(numbers, 64), Figures())
    for _ in range(repeats):
        for side, figures in ((pair.bare, bare), (pair.ours, ours)):
            before = side.cpu_seconds()
            await _batch(side, case, at_once, itertools.islice(numbers, calls), figures)
            figures.cpu.append((side.cpu_seconds() - before) / calls)
    return ours, bare


async def _batch(
    side: Side, case: Case, at_once: int, numbers: Iterable[int], figures: Figures
) -> None:
    waiting = iter(numbers)

    async def caller() -> None:
        for number in waiting:
            start = time.perf_counter()
            result = await side.client.call_tool_mcp(case.tool, case.arguments(number))
            figures.latencies.append(time.perf_counter() - start)
            assert not result.is_error, f"{case.tool} failed, so there is nothing to measure"

    async with anyio.create_task_group() as callers:
        for _ in range(at_once):
            callers.start_soon(caller)


def _row(case: Case, at_once: int, ours: Figures, bare: Figures) -> Row:
    return Row((case.name, str(at_once), *compared_cells(ours, bare, TARGET)), case.about)


def compared_cells(ours: Figures, peer: Figures, target: float) -> tuple[str, ...]:
    """Return CPU and p50 of both sides, their ratios, and whether the target holds."""
    cpu, peer_cpu = median(ours.cpu), median(peer.cpu)
    p50, peer_p50 = median(ours.latencies), median(peer.latencies)
    ratio = cpu / peer_cpu
    return (
        milliseconds(cpu),
        milliseconds(peer_cpu),
        times(ratio),
        milliseconds(p50),
        milliseconds(peer_p50),
        times(p50 / peer_p50),
        held(ratio, target, f"CPU {target}x"),
    )
