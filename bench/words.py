"""A call to a server in other words against one in the package's."""

import itertools
import json
from collections.abc import AsyncIterator

from bench.calls import CALLS, REPEATS, compared_cells, in_turns
from bench.cases import CASES, Case
from bench.report import Row, Section
from bench.sides import Pair, worded
from quarterdeck.tools.texts import load_texts

OVERRIDES = 40
# As good as none: two servers that are the same differ by as much from run to run.
TARGET = 1.05
COLUMNS = ("call", "CPU", "without", "ratio", "p50", "without", "ratio", "target")
ABOUT = (
    f"Two servers over stdio, one with {OVERRIDES} entries in its `metadata.yaml`: every tool by"
    f" name, and patterns that match all of them. They take turns: {REPEATS} times {CALLS} calls"
    " each, medians of these. Words are laid over what is listed, so a call should not notice."
)


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    async with worded(metadata(), "auto") as pair:
        tools = await pair.ours.client.list_tools()
        assert all(tool.title == "Other" for tool in tools), "the words are not in force"
        rows = [await _compared(pair, case, quick=quick) for case in CASES]
        yield Section(f"A call, with {OVERRIDES} overrides", ABOUT, COLUMNS, rows)


def metadata() -> str:
    """Return a file with that many overrides, each of which matters to the lists."""
    names = list(load_texts())
    patterns = ["*" + "?" * length for length in range(OVERRIDES - len(names))]
    words = {"title": "Other", "description": "Other words.", "mode": "append"}
    return json.dumps({"tools": dict.fromkeys([*names, *patterns], words)})


async def _compared(pair: Pair, case: Case, *, quick: bool) -> Row:
    ours, plain = await in_turns(pair, case, 1, itertools.count(), quick=quick)
    return Row((case.name, *compared_cells(ours, plain, TARGET)), case.about)
