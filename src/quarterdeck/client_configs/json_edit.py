"""The smallest edits of a JSON text: every byte that they are not about stays as it is."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from quarterdeck.client_configs.jsonc import TOKEN, Member, Value, parse
from quarterdeck.client_configs.unusable import Unusable

# What may follow a value on its line and belongs to it.
REST_OF_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*.*?\*/))*", re.DOTALL)
BLANK = " \t\r\n"


class Edit(NamedTuple):
    start: int
    end: int
    text: str


class Style(NamedTuple):
    newline: str
    unit: str

    @classmethod
    def of(cls, text: str, root: Value | None) -> "Style":
        """Return the line ends and the indentation that the file uses already."""
        newline = "\r\n" if "\r\n" in text else "\n"
        first = root.members[0] if root and root.members else None
        return cls(newline, (_own_indent(text, first) if first else None) or "  ")


def data(text: str) -> dict[str, object]:
    """Return the document; an empty one has no members."""
    # Most files are plain JSON, and some are large: this is ten times as fast.
    with suppress(ValueError, RecursionError):
        if isinstance(document := json.loads(text), dict):
            return cast("dict[str, object]", document)
    root = _root(text)
    return cast("dict[str, object]", root.data) if root else {}


def put(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with `value` under `path`; objects on the way are made."""
    root = _root(text)
    style = Style.of(text, root)
    if root is None:
        lead = text if not text or text.endswith(("\n", "\ufeff")) else text + style.newline
        return lead + _drawn(_nested(path, value), "", style) + style.newline
    return _applied(text, _put(text, root, path, value, style))


def remove(text: str, path: Sequence[str]) -> str:
    """Return the text without what is under `path`, nor an object that is empty because of it."""
    holder = _value_at(text, path[:-1])
    member = holder.member(path[-1]) if holder else None
    if holder is None or member is None:
        return text
    after = _applied(text, _cut(text, holder, member))
    above = _value_at(after, path[:-2]) if len(path) > 1 else None
    emptied = above.member(path[-2]) if above else None
    if emptied and _is_bare(after, emptied):
        return remove(after, path[:-1])
    return after


def _put(text: str, holder: Value, path: Sequence[str], value: object, style: Style) -> list[Edit]:
    key, *deeper = path
    member = holder.member(key)
    if member is None:
        return _insert(text, holder, key, _nested(deeper, value), style)
    if deeper:
        if member.value.members is None:
            raise Unusable(f"has something else than an object under {key!r}")
        return _put(text, member.value, deeper, value, style)
    drawn = _drawn(value, _line_indent(text, member.start), style)
    return [Edit(member.value.start, member.value.end, drawn)]


def _root(text: str) -> Value | None:
    root = parse(text)
    if root is not None and root.members is None:
        raise Unusable("does not hold a JSON object")
    return root


def _value_at(text: str, path: Sequence[str]) -> Value | None:
    value = _root(text)
    for key in path:
        member = value.member(key) if value else None
        value = member.value if member else None
    return value


def _is_bare(text: str, member: Member) -> bool:
    """Tell whether an object has neither members nor comments, also none before its brace."""
    return not member.value.members and "/" not in text[member.start : member.value.end]


def _nested(path: Sequence[str], value: object) -> object:
    return {path[0]: _nested(path[1:], value)} if path else value


def _insert(text: str, holder: Value, key: str, value: object, style: Style) -> list[Edit]:
    if not holder.members:
        return _insert_first(text, holder, key, value, style)
    last = holder.members[-1]
    indent = _own_indent(text, last)
    if indent is None:
        new = _member(key, value, None, style)
        if last.comma is None:
            return [_at(last.value.end, f", {new}")]
        return [_at(last.comma + 1, f" {new},")]
    new = style.newline + indent + _member(key, value, indent, style)
    if last.comma is None:
        # A comment after the last value stays with it.
        return [_at(last.value.end, ","), _at(_end_of_line(text, last.value.end), new)]
    return [_at(_end_of_line(text, last.comma + 1), f"{new},")]


def _insert_first(text: str, holder: Value, key: str, value: object, style: Style) -> list[Edit]:
    inner = text[holder.start + 1 : holder.end - 1]
    if holder.start and not inner and "\n" not in text.strip(BLANK):
        return [_at(holder.start + 1, _member(key, value, None, style))]
    close = _line_indent(text, holder.start)
    new = style.newline + close + style.unit + _member(key, value, close + style.unit, style)
    # Behind comments; the blanks before the closing brace are anew.
    start = holder.start + 1 + len(inner.rstrip(BLANK))
    return [Edit(start, holder.end - 1, new + style.newline + close)]


def _cut(text: str, holder: Value, member: Member) -> list[Edit]:
    members = holder.members or ()
    at = members.index(member)
    before = members[at - 1].comma if at else holder.start
    assert before is not None, "a comma stands between members"
    end = member.value.end
    edits = [Edit(member.start, end, "")]
    if member.comma is not None:
        edits.append(Edit(member.comma, member.comma + 1, ""))
        # Unless a comment stands before the comma.
        if not text[end : member.comma].strip(BLANK):
            end = member.comma + 1
    elif at:
        edits.append(Edit(before, before + 1, ""))
    inside = Edit(holder.start + 1, holder.end - 1, "")
    if len(members) == 1 and not _applied(text[: inside.end], edits)[inside.start :].strip(BLANK):
        return [inside]
    return [*edits, _blanks_around(text, before + 1, member.start, end)]


def _blanks_around(text: str, gap: int, start: int, end: int) -> Edit:
    """Take the blanks before what is cut, or else after it, so that lines do not join a comment."""
    lead = gap + len(text[gap:start].rstrip(BLANK))
    tail = end + len(text[end:]) - len(text[end:].lstrip(" \t"))
    follows = text[tail : tail + 1]
    is_safe = follows in {"", "\r", "\n"} or not _ends_in_line_comment(text[gap:lead])
    begins_line = "\n" in text[lead:start]
    if lead < start and is_safe and not (begins_line and follows == "/"):
        return Edit(lead, start, "")
    return Edit(end, tail, "")


def _ends_in_line_comment(trivia: str) -> bool:
    last = ""
    for match in TOKEN.finditer(trivia):
        last = match.group()
    return last.startswith("//")


def _at(position: int, text: str) -> Edit:
    return Edit(position, position, text)


def _applied(text: str, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*parts, text[at:]))


def _end_of_line(text: str, position: int) -> int:
    match = REST_OF_LINE.match(text, position)
    assert match is not None, "the pattern matches nothing too"
    return match.end()


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _own_indent(text: str, member: Member) -> str | None:
    """Return what stands before a member that begins its line; None for others."""
    lead = text[text.rfind("\n", 0, member.start) + 1 : member.start]
    begins_line = "\n" in text[: member.start] and not lead.strip(" \t")
    return lead if begins_line else None


def _member(key: str, value: object, indent: str | None, style: Style) -> str:
    return f"{_scalar(key)}: {_drawn(value, indent, style)}"


def _drawn(value: object, indent: str | None, style: Style) -> str:
    """Return JSON; objects over several lines, unless `indent` is None, and lists on one."""
    if indent is None or not isinstance(value, dict) or not value:
        return _scalar(cast("object", value))
    members = cast("dict[str, object]", value)
    inside = indent + style.unit
    lines = [inside + _member(key, inner, inside, style) for key, inner in members.items()]
    separator = "," + style.newline
    return "{" + style.newline + separator.join(lines) + style.newline + indent + "}"


def _scalar(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
