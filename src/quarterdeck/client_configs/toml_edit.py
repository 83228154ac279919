"""The smallest edits of a TOML text.

A new table is appended and an old one cut out as text, because tomlkit counts the comments
before the next table to the one above; it makes the edits inside of a table.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from quarterdeck.client_configs.unusable import Unusable

BYTE_ORDER_MARK = "\ufeff"
PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
HEADER = re.compile(r"[ \t]*\[(?!\[)([^\]\n#]*)\][ \t]*(?:#.*)?\r?\n?")
UNSAFE = "is written in a way that cannot be edited safely"
Table = dict[str, Any]


def data(text: str) -> dict[str, object]:
    """Return the document.

    Raises:
        Unusable: names the line and the column of the first mistake.
    """
    body = text.removeprefix(BYTE_ORDER_MARK)
    try:
        return tomllib.loads(body)
    except tomllib.TOMLDecodeError as error:
        place = PLACE.search(str(error))
        reason = PLACE.sub("", str(error)).lower()
        lines = body.split("\n")
        line, column = (place[1], place[2]) if place else (None, None)
        raise Unusable(
            f"is broken at line {line or len(lines)}, column {column or len(lines[-1]) + 1}:"
            f" {reason}"
        ) from error


def put(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with `value` under `path`; tables on the way are made."""
    if not isinstance(value, Mapping):
        return _with_tomlkit(text, path, value)
    table = cast("Mapping[str, object]", value)
    text = remove(text, path)
    appended = text + _block(text, path, table)
    return appended if _is_toml(appended) else _with_tomlkit(text, path, table)


def remove(text: str, path: Sequence[str]) -> str:
    """Return the text without what is under `path`, nor a table that is empty because of it."""
    before = data(text)
    if _found(before, path) is None:
        return text
    cut = _without_tables(text, path)
    if _is_toml(cut) and data(cut) == without(before, path):
        return cut
    return _with_tomlkit(text, path, None)


def without(document: Mapping[str, object], path: Sequence[str]) -> dict[str, object]:
    """Return a copy without what is under `path`, nor a table that is empty because of it."""
    key, *deeper = path
    rest = {name: value for name, value in document.items() if name != key}
    if not deeper or key not in document:
        return rest
    inner = without(cast("Mapping[str, object]", document[key]), deeper)
    return {name: inner if name == key else document[name] for name in document} if inner else rest


def _found(document: Mapping[str, object], path: Sequence[str]) -> object | None:
    key, *deeper = path
    inner = document.get(key)
    if not deeper or inner is None:
        return inner
    if not isinstance(inner, Mapping):
        raise Unusable(f"has something else than a table under {key!r}")
    return _found(cast("Mapping[str, object]", inner), deeper)


def _is_toml(text: str) -> bool:
    try:
        data(text)
    except Unusable:
        return False
    return True


def _block(text: str, path: Sequence[str], table: Mapping[str, object]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    _, body = _parted(text)
    lead = "" if not body else newline if body.endswith("\n") else newline * 2
    header = "[" + ".".join(path) + "]"
    lines = [header, *(f"{key} = {_drawn(value)}" for key, value in table.items())]
    # Where the file had no end of line, it has none afterwards.
    tail = "" if body and not body.endswith("\n") else newline
    return lead + newline.join(lines) + tail


def _drawn(value: object) -> str:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value).items()
        return "{ " + ", ".join(f"{key} = {_drawn(inner)}" for key, inner in members) + " }"
    return tomlkit.item(value).as_string()


def _without_tables(text: str, path: Sequence[str]) -> str:
    mark, body = _parted(text)
    lines = body.splitlines(keepends=True)
    for first, last in reversed(list(_tables(lines, path))):
        # The empty line before a table goes with it.
        start = first - 1 if first and not lines[first - 1].strip() else first
        if last == len(lines) and start and not lines[-1].endswith("\n"):
            lines[start - 1] = lines[start - 1].rstrip("\r\n")
        del lines[start:last]
    return mark + "".join(lines)


def _tables(lines: Sequence[str], path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Return from which to which line the table and its sub-tables go, trailing comments apart."""
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number in headers:
        header = HEADER.fullmatch(lines[number])
        if header is None or _keys(header[1])[: len(path)] != list(path):
            continue
        end = next((other for other in headers if other > number), len(lines))
        while not lines[end - 1].partition("#")[0].strip():
            end -= 1
        yield number, end


def _keys(header: str) -> list[str]:
    return [key.strip().strip("\"'") for key in header.split(".")]


def _with_tomlkit(text: str, path: Sequence[str], value: object | None) -> str:
    mark, body = _parted(text)
    try:
        document = tomlkit.parse(body)
        _change(cast("Table", document), path, value)
        after = document.as_string()
    except (TOMLKitError, KeyError) as error:
        raise Unusable(UNSAFE) from error
    if not _is_local(body, after):
        raise Unusable(UNSAFE)
    return mark + after


def _is_local(before: str, after: str) -> bool:
    """Tell whether lines changed in one place only, and no comment went.

    tomlkit may put tables into another order, and a comment away with the table above it.
    """
    old, new = before.splitlines(), after.splitlines()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    gone = [line for _, start, end, _, _ in changes for line in old[start:end]]
    return len(changes) <= 1 and not any(line.lstrip().startswith("#") for line in gone)


def _parted(text: str) -> tuple[str, str]:
    """Return the byte order mark, if there is one, and the rest."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    return mark, text[len(mark) :]


def _change(table: Table, path: Sequence[str], value: object | None) -> None:
    key, *deeper = path
    if deeper:
        if key not in table:
            table[key] = tomlkit.inline_table() if len(deeper) == 1 else tomlkit.table()
        _change(table[key], deeper, value)
        if value is None and not table[key]:
            del table[key]
    elif value is None:
        del table[key]
    else:
        table[key] = value
