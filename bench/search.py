"""`memory_search` over ever more entries, on the embedded database."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from statistics import median

from bench.dataset import Dataset
from bench.figures import held, milliseconds, percentile, times
from bench.filling import Filled, filled_home
from bench.homes import opened
from bench.queries import Kind, kinds
from bench.report import Row, Section
from quarterdeck.app import Quarterdeck
from quarterdeck.services.calls import Call

Decks = dict[int, Quarterdeck]

SIZES = (10_000, 100_000, 1_000_000)
REPEATS = 5
TARGET_SECONDS = 0.010
ABOUT = (
    "A search as a tool makes it, with its trace committed, limit 10, p50 / p95. The peer is the"
    " same search over the smallest number of entries; sizes take turns, and each text is searched"
    f" for {REPEATS} times after one that is not counted, so the file is in the operating system's"
    " cache. Keys look like `area/part/topic-000123`; values are 40 words that follow Zipf's law"
    " over a vocabulary of 20,000."
)


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    sizes = (1_000, 10_000) if quick else SIZES
    async with AsyncExitStack() as stack:
        decks: Decks = {}
        files: list[Filled] = []
        for size in sizes:
            home, filled = await filled_home(size)
            files.append(filled)
            decks[size] = await stack.enter_async_context(opened(home))
        yield await searches("Searching memory, SQLite", ABOUT, decks)
    yield _filling(files)


async def searches(title: str, about: str, decks: Decks) -> Section:
    """Measure every kind of search on every size."""
    rows = [_row(kind, await _seconds(kind, decks)) for kind in kinds(Dataset())]
    for deck in decks.values():
        await deck.traces.prune(retention_days=1, max_traces=0)
    shown = tuple(f"{size:,}" for size in decks)
    columns = ("query", *shown, f"growth (entries {_growth(list(decks))})", "target")
    return Section(title, about, columns, rows)


async def _seconds(kind: Kind, decks: Decks) -> dict[int, list[float]]:
    taken: dict[int, list[float]] = {size: [] for size in decks}
    for turn in range(REPEATS + 1):
        for text in kind.texts:
            for size, deck in decks.items():
                seconds = await _search(deck, text)
                if turn:
                    taken[size].append(seconds)
    return taken


async def _search(deck: Quarterdeck, text: str) -> float:
    call = Call(surface="bench", name="bench.memory_search", input={"query": text})
    start = time.perf_counter()
    await deck.calls.serve(call, lambda: deck.memory.search(text))
    return time.perf_counter() - start


def _row(kind: Kind, taken: Mapping[int, Sequence[float]]) -> Row:
    spread = [
        f"{milliseconds(median(samples))} / {milliseconds(percentile(samples, 0.95))}"
        for samples in taken.values()
    ]
    first, *_, last = (median(samples) for samples in taken.values())
    cells = (
        kind.name,
        *spread,
        times(last / first),
        held(last, TARGET_SECONDS, "p50 10 ms") if SIZES[-1] in taken else "-",
    )
    return Row(cells, kind.about)


def _growth(sizes: Sequence[int]) -> str:
    return times(sizes[-1] / sizes[0])


def _filling(files: Sequence[Filled]) -> Section:
    rows = [
        Row(
            (
                f"{filled.entries:,} entries",
                f"{filled.entries / filled.seconds:,.0f}",
                f"{filled.bytes / 2**20:,.0f} MiB",
                f"{filled.bytes / filled.entries:,.0f} bytes",
            ),
            "entries put through the repository, some thousands in a transaction",
        )
        for filled in files
    ]
    columns = ("filled with", "entries / s", "file", "an entry")
    about = "For information: how the databases of the searches were made, when they were made."
    return Section("Filling memory, SQLite", about, columns, rows)
