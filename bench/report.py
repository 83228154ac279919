"""The tables: plain on the terminal, Markdown in the documentation."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of figures; `about` says in a sentence what was measured."""

    cells: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class Section:
    """One table; `about` says how it was measured and against what."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: Sequence[Row]


def as_text(section: Section) -> str:
    lines = [section.columns, *(row.cells for row in section.rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(section.columns))]
    table = ["  ".join(_padded(line, widths)).rstrip() for line in lines]
    return "\n".join([section.title, "", *table, ""])


def as_markdown(section: Section) -> str:
    heads = (*section.columns, "what was measured")
    rule = ("---", *("---:" for _ in section.columns[1:]), "---")
    lines = [heads, rule, *((*row.cells, row.about) for row in section.rows)]
    table = ["| " + " | ".join(line) + " |" for line in lines]
    about = textwrap.fill(section.about, 100)
    return "\n".join([f"## {section.title}", "", about, "", *table, ""])


def _padded(cells: tuple[str, ...], widths: Sequence[int]) -> list[str]:
    """Return a name on the left and figures on the right of their columns."""
    first, *rest = zip(cells, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
