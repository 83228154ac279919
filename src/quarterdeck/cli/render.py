"""How answers are printed: data to stdout, remarks to stderr, nothing that steers a terminal."""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel


def print_json(answer: "BaseModel") -> None:
    """Print an answer exactly as other surfaces reply with it."""
    print(answer.model_dump_json(exclude_none=True))


def json_text(value: object) -> str:
    """Return JSON for reading, with what a terminal would obey escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return "\n".join(_escaped(line) for line in text.split("\n"))


def remark(text: str) -> None:
    """Tell the person, and not the program that reads the data."""
    print(printable(text), file=sys.stderr)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns: as a table on a terminal, aligned and uncut for other programs."""
    clean = [[printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _print_drawn(header, clean)
    else:
        _print_aligned([header, *clean])


def printable(text: str) -> str:
    """Return one line of text, with control characters spelled out.

    Stored text is other people's: raw, it could move the cursor or change colours.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _spelled(char) for char in text)


def moment(at: datetime) -> str:
    """Return a time to the second, in UTC."""
    return f"{at:%Y-%m-%d %H:%M:%S}Z"


def when(at: str) -> str:
    """Return a time of an answer to the second, in UTC."""
    return moment(datetime.fromisoformat(at))


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode()


def _print_drawn(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header)
    for row in rows:
        # As Text, because brackets in a value are no markup.
        table.add_row(*map(Text, row))
    Console().print(table)


def _print_aligned(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())
