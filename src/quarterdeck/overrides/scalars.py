"""Keys and values as YAML text, for one place in a file that somebody else has laid out."""

import json
import re
from collections.abc import Sequence

import yaml

Value = str | bool

INDENT = 2
# What needs no quotes as a key; words that YAML takes for something else do.
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(://[A-Za-z0-9_./-]+)?")
# YAML takes these for the end of a line too, and editors do not.
OTHER_BREAKS = frozenset("\r\x85\u2028\u2029")
NO_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def block_entry(path: Sequence[str], value: Value, column: int) -> str:
    """Return the lines of an entry, each name of `path` below the one before."""
    *above, last = path
    lines = [
        f"{' ' * (column + INDENT * depth)}{_key(name)}:\n" for depth, name in enumerate(above)
    ]
    column += INDENT * len(above)
    return f"{''.join(lines)}{' ' * column}{_key(last)}: {value_text(value, None, column)}\n"


def flow_value(path: Sequence[str], value: Value) -> str:
    """Return a value for between braces; it is inside of mappings when `path` has names."""
    return "{" + flow_entry(path, value) + "}" if path else _in_quotes(value)


def flow_entry(path: Sequence[str], value: Value) -> str:
    """Return an entry for between braces."""
    return f"{_in_quotes(path[0])}: {flow_value(path[1:], value)}"


def value_text(value: Value, style: str | None, column: int) -> str:
    """Return a value as it follows a key at `column`, quoted as before if it had quotes.

    Text of several lines becomes a block, where YAML can say it so.
    """
    if isinstance(value, bool) or not OTHER_BREAKS.isdisjoint(value) or _ends_blank(value):
        return _in_quotes(value)
    if "\n" in value:
        style = "|"
    elif style in {"|", ">"}:
        style = None
    text = _dumped(value, style)
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * column + line if line.strip() else line for line in rest)])


def _dumped(value: str, style: str | None) -> str:
    # Under a key, because what needs quotes depends on where it stands.
    text: str = yaml.safe_dump(
        {"k": value}, default_style=style, width=float("inf"), allow_unicode=True
    )
    return text.partition(": ")[2].removesuffix("\n")


def _ends_blank(value: str) -> bool:
    """Say whether a block could not hold the end of the text without a mark behind it."""
    return value.endswith("\n\n") or (bool(value) and not value.strip("\n"))


def _in_quotes(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text: str = yaml.safe_dump(value, default_style='"', width=float("inf"), allow_unicode=False)
    return text.removesuffix("\n")


def _key(name: str) -> str:
    is_plain = PLAIN_KEY.fullmatch(name) and name.lower() not in NO_WORDS
    return name if is_plain else json.dumps(name, ensure_ascii=False)
