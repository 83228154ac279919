"""YAML as plain data with line numbers, and nothing that could run, refer or grow.

Anchors, aliases and merge keys are refused: a few lines of them can stand for gigabytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import yaml
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode

MOST_NESTED = 10
TEXT, BOOL, INT, NULL, MERGE = (
    f"tag:yaml.org,2002:{name}" for name in ("str", "bool", "int", "null", "merge")
)
PLAIN = frozenset(f"tag:yaml.org,2002:{name}" for name in ("float", "timestamp", "map", "seq"))
KNOWN = PLAIN | {TEXT, BOOL, INT, NULL, MERGE}
# Longer numbers than this are no version of anything.
NUMBER_LENGTH = 9

Place = tuple[str, ...]


class Trouble(NamedTuple):
    """One thing that is wrong, in words that follow the place."""

    line: int | None
    where: str
    problem: str


class Unreadable(Exception):
    """The text is no YAML, or more than we take."""

    def __init__(self, line: int | None, problem: str) -> None:
        super().__init__(problem)
        self.trouble = Trouble(line, "", problem)


@dataclass
class Read:
    """What was read: the data, the line of each place, and what is wrong so far."""

    data: object = None
    lines: dict[Place, int] = field(default_factory=dict[Place, int])
    troubles: list[Trouble] = field(default_factory=list[Trouble])


def read_yaml(text: str) -> Read:
    """Read one document.

    Raises:
        Unreadable: there is no telling what it says.
    """
    read = Read()
    node = _composed(text)
    if node is not None:
        read.data = _value(node, (), read)
    return read


def dotted(place: Place) -> str:
    return ".".join(place)


class _Loader(yaml.SafeLoader):
    """Composes the tree of nodes; nothing is ever constructed from it."""

    depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:  # noqa: ANN401 - as PyYAML has it
        event = cast("Any", self).peek_event()  # PyYAML has no types
        line = int(event.start_mark.line) + 1
        if isinstance(event, AliasEvent) or event.anchor is not None:
            raise Unreadable(line, "anchors and aliases (& and *) are not taken, write it out")
        if self.depth >= MOST_NESTED:
            raise Unreadable(line, f"it is nested deeper than {MOST_NESTED} levels")
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _composed(text: str) -> Node | None:
    try:
        loader = _Loader(text)
        return loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = f"it holds the character U+{error.character:04X}, which YAML does not allow"
        raise Unreadable(line, problem) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        about = " ".join(filter(None, (error.context, error.problem)))
        raise Unreadable(mark.line + 1 if mark else None, f"it is no YAML: {about}") from error


def _value(node: Node, place: Place, read: Read) -> object:
    """Return a node as data; what cannot be taken is noted, and stands as an `object`."""
    if node.tag not in KNOWN:
        problem = f"the tag {node.tag!r} is not taken, only plain texts and mappings are"
        read.troubles.append(Trouble(_line(node), dotted(place), problem))
        return None
    if isinstance(node, MappingNode):
        return _mapping(node, place, read)
    return _scalar(node, place, read) if isinstance(node, ScalarNode) else object()


def _mapping(node: MappingNode, place: Place, read: Read) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for key, child in _entries(node, place, read):
        value = _value(child, (*place, key), read)
        if value is not None:  # nothing after the colon is nothing said
            found[key] = value
    return found


def _entries(node: MappingNode, place: Place, read: Read) -> Iterator[tuple[str, Node]]:
    for key_node, child in node.value:
        line, key = _line(key_node), _key(key_node)
        if key is None:
            is_merge = key_node.tag == MERGE
            problem = "merge keys (<<) are not taken" if is_merge else "a key must be a text"
            read.troubles.append(Trouble(line, dotted(place), problem))
        elif (*place, key) in read.lines:
            problem = f"{key!r} is there twice, first in line {read.lines[*place, key]}"
            read.troubles.append(Trouble(line, dotted((*place, key)), problem))
        else:
            read.lines[*place, key] = line
            yield key, child


def _key(node: Node) -> str | None:
    is_text = isinstance(node, ScalarNode) and node.tag == TEXT and _is_sound(node.value)
    return node.value if is_text else None


def _scalar(node: ScalarNode, place: Place, read: Read) -> object:
    value = str(node.value)
    if node.tag == TEXT and not _is_sound(value):
        problem = "the text holds a character that cannot be sent"
        read.troubles.append(Trouble(_line(node), dotted(place), problem))
        return None
    if node.tag in {TEXT, NULL}:
        return value if node.tag == TEXT else None
    if node.tag == BOOL:
        return yaml.SafeLoader.bool_values.get(value.lower(), object())
    is_number = node.tag == INT and value.isdecimal() and len(value) <= NUMBER_LENGTH
    return int(value) if is_number else object()


def _is_sound(text: str) -> bool:
    """Say whether a text can be sent: no NUL, no half of a pair of surrogates."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _line(node: Node) -> int:
    return node.start_mark.line + 1
