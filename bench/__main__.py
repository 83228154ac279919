"""Measure Quarterdeck against its peers and print tables of ratios."""

import argparse
from collections.abc import AsyncIterator, Sequence
from importlib import import_module
from typing import Protocol

import anyio

from bench import document, machine
from bench.report import Section, as_markdown, as_text

# Modules of this package; each is loaded when it is asked for.
EXPERIMENTS = (
    "calls",
    "words",
    "attached",
    "starts",
    "help",
    "search",
    "postgres",
    "commits",
    "pruning",
    "metadata",
    "fleet",
)


class Measure(Protocol):
    """One experiment; it yields its tables as they get ready."""

    def __call__(self, *, quick: bool) -> AsyncIterator[Section]: ...


def main() -> None:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"what to measure: {', '.join(EXPERIMENTS)}")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="few repeats, to see that it runs")
    how.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    options = parser.parse_args()
    names = options.names or list(EXPERIMENTS)
    if unknown := set(names) - set(EXPERIMENTS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(EXPERIMENTS)}")
    parts = anyio.run(_measured, names, options.quick)
    if options.write:
        document.write(parts, ["machine", *EXPERIMENTS, "notes"])


async def _measured(names: Sequence[str], quick: bool) -> dict[str, str]:
    described = machine.describe()
    print(described)
    parts = {"machine": described}
    for name in names:
        load = machine.load()
        print(load)
        parts[name] = ""
        measure: Measure = import_module(f"bench.{name}").measure
        async for section in measure(quick=quick):
            print(as_text(section), flush=True)
            parts[name] += as_markdown(section) + "\n"
        parts[name] += load
    return parts


if __name__ == "__main__":
    main()
