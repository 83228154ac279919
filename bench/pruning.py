"""What it costs to forget old traces, and what calls notice of it."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median

import anyio

from bench.figures import milliseconds, percentile, times
from bench.homes import new_home, opened
from bench.report import Row, Section
from quarterdeck.app import Quarterdeck
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.trace import Trace
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.traces import SqlTraceRepository
from quarterdeck.services.calls import Call
from quarterdeck.services.traces import PRUNE_BATCH

DOOMED = 10_000
KEPT = 100_000
REPEATS = 3
COLUMNS = ("pruned", "time", "CPU", "CPU of writing", "ratio", "call p50 / p95", "quiet p50 / p95")
ABOUT = (
    "For information. Traces are deleted in small batches, and calls go on meanwhile. The peer is"
    " writing the same traces in batches of the same size. The last two columns are a"
    f" `memory_retrieve` made again and again, while pruning and without it. {REPEATS} rounds,"
    " medians."
)


@dataclass(frozen=True)
class Round:
    """What one round of writing and pruning took, in seconds."""

    wall: float
    cpu: float
    writing_cpu: float
    busy: list[float]
    quiet: list[float]


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    doomed, kept = (1_000, 1_000) if quick else (DOOMED, KEPT)
    repeats = 1 if quick else REPEATS
    with new_home() as home:
        async with opened(home) as deck:
            traces = Traces(deck, await _example(deck))
            aged = [await traces.round(doomed, age_days=60, keep=kept) for _ in range(repeats)]
            await traces.write(kept, age_days=1)
            crowded = [await traces.round(doomed, age_days=2, keep=kept) for _ in range(repeats)]
    rows = [
        _row(f"{doomed:,} by age", aged, "traces past their age, nothing else in the table"),
        _row(f"{doomed:,} by count", crowded, f"traces beyond the newest {kept:,}, which stay"),
    ]
    yield Section("Pruning traces", ABOUT, COLUMNS, rows)


async def _example(deck: Quarterdeck) -> Trace:
    """Return the trace of a real call."""
    call = _call()
    await deck.calls.serve(call, lambda: deck.memory.retrieve("absent"))
    read = deck.traces.operations.store.read
    trace = await read(lambda tx: SqlTraceRepository().find(tx, call.call_id))
    assert trace is not None
    return trace


def _call() -> Call:
    return Call(surface="bench", name="bench.memory_retrieve", input={"key": "absent"})


class Traces:
    """Copies of one trace, written as if they were old, and pruned."""

    def __init__(self, deck: Quarterdeck, example: Trace) -> None:
        self._deck = deck
        self._store = deck.traces.operations.store
        self._example = example

    async def round(self, count: int, *, age_days: int, keep: int) -> Round:
        writing = await self.write(count, age_days=age_days)
        start, cpu = time.perf_counter(), time.process_time()
        await self._prune(keep)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        quiet = await self._latencies(anyio.Event(), most=500)
        await self.write(count, age_days=age_days)
        return Round(wall, cpu, writing, await self._while_pruning(keep), quiet)

    async def write(self, count: int, *, age_days: int) -> float:
        """Return the CPU seconds of writing `count` traces."""
        moment, cpu = datetime.now(UTC) - timedelta(days=age_days), time.process_time()
        rows = SqlTraceRepository()

        def decide(tx: Transaction) -> None:
            for _ in range(PRUNE_BATCH):
                rows.add(tx, self._example._replace(trace_id=new_id(moment)))

        for _ in range(count // PRUNE_BATCH):
            await self._store.write(decide)
        return time.process_time() - cpu

    async def _prune(self, keep: int) -> None:
        await self._deck.traces.prune(retention_days=30, max_traces=keep)

    async def _while_pruning(self, keep: int) -> list[float]:
        done, latencies = anyio.Event(), list[float]()

        async def call() -> None:
            latencies.extend(await self._latencies(done))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await self._prune(keep)
            done.set()
        return latencies

    async def _latencies(self, done: anyio.Event, most: int = 5_000) -> list[float]:
        taken: list[float] = []
        while len(taken) < most and not done.is_set():
            start = time.perf_counter()
            await self._deck.calls.serve(_call(), lambda: self._deck.memory.retrieve("absent"))
            taken.append(time.perf_counter() - start)
        return taken


def _row(name: str, rounds: list[Round], about: str) -> Row:
    cpu, writing = median(r.cpu for r in rounds), median(r.writing_cpu for r in rounds)
    cells = (
        name,
        milliseconds(median(r.wall for r in rounds)),
        milliseconds(cpu),
        milliseconds(writing),
        times(cpu / writing),
        _spread([seconds for r in rounds for seconds in r.busy]),
        _spread([seconds for r in rounds for seconds in r.quiet]),
    )
    return Row(cells, about)


def _spread(samples: list[float]) -> str:
    return f"{milliseconds(median(samples))} / {milliseconds(percentile(samples, 0.95))}"
