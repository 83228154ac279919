"""The user's file as text: one entry is changed, and every other byte stays as it was written.

Places come from the parser's marks. Loading and dumping the whole would lose comments that stand
before a removed entry, and would indent and wrap everything anew.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from quarterdeck.errors import InvalidInput
from quarterdeck.overrides.nodes import NULL, Unreadable, read_yaml
from quarterdeck.overrides.scalars import (
    INDENT,
    Value,
    block_entry,
    flow_entry,
    flow_value,
    value_text,
)

Data = Mapping[str, object]
Pair = tuple[Node, Node]
ScalarPair = tuple[Node, ScalarNode]


def with_value(text: str, path: Sequence[str], value: Value) -> str:
    """Return the text with `value` at `path`; mappings on the way are made.

    Raises:
        InvalidInput: the text is written so that it cannot be changed in one place.
    """
    text = _ended(text)
    wanted = _data_with(loaded(text), path, value)
    return _checked(_in_own_line_ends(text, lambda plain: _set(plain, path, value)), wanted)


def without(text: str, path: Sequence[str]) -> str:
    """Return the text without the entry at `path`, and without mappings that held only that.

    Raises:
        InvalidInput: the text is written so that it cannot be changed in one place.
    """
    wanted = _data_without(loaded(text), path)
    return _checked(_in_own_line_ends(text, lambda plain: _unset(plain, path)), wanted)


def loaded(text: str) -> Data:
    """Return the data in the text, which has been checked before."""
    try:
        data = read_yaml(text).data
    except Unreadable as error:
        raise _unchangeable(error.trouble.problem) from error
    return cast("Data", data) if isinstance(data, dict) else {}


def has_value(data: Data, path: Sequence[str]) -> bool:
    """Return whether the data says anything at `path`."""
    name, *below = path
    if not below or name not in data:
        return name in data
    inner = data[name]
    return isinstance(inner, Mapping) and has_value(cast("Data", inner), below)


def _set(text: str, path: Sequence[str], value: Value) -> str:
    root = _root(text)
    if root is None:
        return text + block_entry(path, value, 0)
    return _set_below(text, root, path, value)


def _root(text: str) -> MappingNode | None:
    node = yaml.SafeLoader(text).get_single_node()
    return node if isinstance(node, MappingNode) else None


def _set_below(text: str, mapping: MappingNode, path: Sequence[str], value: Value) -> str:
    pair = _pair(mapping, path[0])
    if pair is None:
        return _inserted(text, mapping, path, value)
    key, old = pair
    if len(path) > 1 and isinstance(old, MappingNode):
        return _set_below(text, old, path[1:], value)
    if not isinstance(old, ScalarNode) or (len(path) > 1 and old.tag != NULL):
        raise _unchangeable(f"has something else than expected at {path[0]!r}")
    return _replaced(text, mapping, (key, old), path[1:], value)


def _inserted(text: str, mapping: MappingNode, path: Sequence[str], value: Value) -> str:
    if mapping.flow_style:
        at = mapping.end_mark.index - 1
        comma = ", " if mapping.value and not _ends_with_comma(text[:at]) else ""
        return text[:at] + comma + flow_entry(path, value) + text[at:]
    column = mapping.start_mark.column
    # A new section goes to the end of the file, behind comments that explain the others.
    at = len(text) if column == 0 else _line_after(text, _end(text, mapping))
    return text[:at] + block_entry(path, value, column) + text[at:]


def _ends_with_comma(before: str) -> bool:
    return before.rstrip().endswith(",")


def _replaced(
    text: str, mapping: MappingNode, pair: ScalarPair, below: Sequence[str], value: Value
) -> str:
    key, old = pair
    start, end, column = old.start_mark.index, _end(text, old), key.start_mark.column
    if mapping.flow_style:
        # From the key on: `{key}` alone is an entry too.
        return text[: key.end_mark.index] + ": " + flow_value(below, value) + text[end:]
    if below:
        at = _line_after(text, end)
        return text[:start] + text[end:at] + block_entry(below, value, column + INDENT) + text[at:]
    blank = "" if text[start - 1] in " \t" else " "
    first, line_end, rest = value_text(value, old.style, column).partition("\n")
    # Comments stay on the first line: below it they would be a part of a block.
    behind = _line_after(text, end) - 1
    first += _header_comment(text, old) + text[end:behind]
    return text[:start] + blank + first + line_end + rest + text[behind:]


def _header_comment(text: str, old: ScalarNode) -> str:
    """Return the comment behind the `|` or `>` of a block, which would go with the old value."""
    if old.style not in {"|", ">"}:
        return ""
    header = text[old.start_mark.index :].partition("\n")[0]
    _, sign, comment = header.partition(" #")
    return sign and f" {sign}{comment}"


def _unset(text: str, path: Sequence[str]) -> str:
    """Take out the entry, then what is left empty above it, each time from the text as it is."""
    for length in range(len(path), 0, -1):
        found = _find(_root(text), path[:length])
        if found is None or (length < len(path) and not _is_empty(found[1][1])):
            break
        text = _cut(text, *found)
    return text


def _find(root: MappingNode | None, path: Sequence[str]) -> tuple[MappingNode, Pair] | None:
    found: tuple[MappingNode, Pair] | None = None
    node: Node | None = root
    for name in path:
        if not isinstance(node, MappingNode) or (pair := _pair(node, name)) is None:
            return None
        found, node = (node, pair), pair[1]
    return found


def _is_empty(node: Node) -> bool:
    return node.tag == NULL or (isinstance(node, MappingNode) and not node.value)


def _cut(text: str, mapping: MappingNode, pair: Pair) -> str:
    key, value = pair
    if mapping.flow_style:
        return _cut_from_flow(text, mapping, pair)
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    end = _line_after(text, max(key.end_mark.index, _end(text, value)))
    return text[:start] + text[end:]


def _cut_from_flow(text: str, mapping: MappingNode, pair: Pair) -> str:
    pairs = cast("list[Pair]", mapping.value)
    at = pairs.index(pair)
    if at + 1 < len(pairs):
        return text[: pair[0].start_mark.index] + text[pairs[at + 1][0].start_mark.index :]
    start = pairs[at - 1][1].end_mark.index if at else mapping.start_mark.index + 1
    return text[:start] + text[mapping.end_mark.index - 1 :]


def _pair(mapping: MappingNode, name: str) -> Pair | None:
    pairs = cast("list[Pair]", mapping.value)
    # The last one counts, as it does when the file is loaded.
    return next((pair for pair in reversed(pairs) if pair[0].value == name), None)


def _end(text: str, node: Node) -> int:
    """Return where the node's own text ends, before blank lines and comments that follow it."""
    if isinstance(node, ScalarNode):
        start, end = node.start_mark.index, node.end_mark.index
        if node.style not in {"|", ">"}:
            return end
        # With a plus, the blank lines belong to the text.
        keeps_blanks = "+" in text[start:end].partition("\n")[0].partition("#")[0]
        return end - 1 if keeps_blanks else start + len(text[start:end].rstrip())
    if isinstance(node, MappingNode) and node.value and not node.flow_style:
        key, value = cast("Pair", node.value[-1])
        return max(key.end_mark.index, _end(text, value))
    return node.end_mark.index


def _line_after(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _ended(text: str) -> str:
    """Return the text with an end of its last line, behind which more can be put."""
    if not text or text.endswith("\n"):
        return text
    return text + ("\r\n" if "\r\n" in text else "\n")


def _in_own_line_ends(text: str, change: Callable[[str], str]) -> str:
    ends_alike = text.count("\r\n") == text.count("\n") > 0
    if not ends_alike:
        return change(text)
    return change(text.replace("\r\n", "\n")).replace("\n", "\r\n")


def _checked(text: str, wanted: Data) -> str:
    """Return the text if it says what it should say: the marks may have been misread."""
    if _pruned(loaded(text)) != _pruned(wanted):
        raise _unchangeable("is written in a way that commands cannot change")
    return text


def _data_with(data: Data, path: Sequence[str], value: Value) -> Data:
    name, *below = path
    old = data.get(name)
    inner: Data = cast("Data", old) if isinstance(old, Mapping) else {}
    return {**data, name: _data_with(inner, below, value) if below else value}


def _data_without(data: Data, path: Sequence[str]) -> Data:
    name, *below = path
    old = data.get(name)
    if below and isinstance(old, Mapping):
        return {**data, name: _data_without(cast("Data", old), below)}
    return {key: found for key, found in data.items() if key != name}


def _pruned(data: Data) -> Data:
    """Return the data without mappings in which there is nothing."""
    pairs = (
        (name, _pruned(cast("Data", value)) if isinstance(value, Mapping) else value)
        for name, value in data.items()
    )
    return {name: value for name, value in pairs if value != {}}


def _unchangeable(problem: str) -> InvalidInput:
    return InvalidInput(
        f"The metadata file {problem}",
        hint="nothing was changed; run 'quarterdeck metadata edit' to change it by hand",
    )
