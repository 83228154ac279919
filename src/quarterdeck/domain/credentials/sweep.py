"""One pass over a text or a JSON tree that hides the credentials in it."""

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

from quarterdeck.domain.credentials.assignments import hide_assignments
from quarterdeck.domain.credentials.form import REDACTED, Form, is_ordinary_word
from quarterdeck.domain.credentials.names import lowered, names_credential, word_set
from quarterdeck.domain.json import JsonObject, JsonValue, dump

_Container: TypeAlias = list[JsonValue] | JsonObject
# The changed members of one container: what each is called now, and what it holds.
_Edits: TypeAlias = dict[str | int, tuple[str, JsonValue]]

# {"name": "API_KEY", "value": "..."}: one member says what the other one is.
_NAMING_MEMBERS = word_set("argument field header key name namespace parameter variable")
_NAMED_MEMBER = "value"
# The names of stored things are often paths, and any part of a path may be the telling one.
_PATH_SIGN = re.compile("[/:]")
_LONGEST_PATH = 500
_SHORTEST_TEXT = 6
_PAIR = 2
# A tuple: `dict | list` would be built anew for each of many thousand values.
_CONTAINERS = (dict, list)


@dataclass(frozen=True, slots=True)
class Sweep:
    """What to look for; a caller who has looked ahead leaves out what cannot occur.

    `literals` are secrets themselves, `hints` the literals of hints to a credential's name.
    """

    literals: tuple[str, ...]
    forms: tuple[Form, ...]
    hints: tuple[str, ...]

    def text(self, text: str) -> str:
        """Return `text` without its credentials; itself, if it has none."""
        if len(text) < _SHORTEST_TEXT:
            return text
        lower = lowered(text)
        has_name = _holds_one_of(self.hints, lower)
        swept = self._document(text) if has_name else text
        for literal in self.literals:
            swept = swept.replace(literal, REDACTED)
        for form in self.forms:
            if form.occurs_in(swept, lower):
                swept = form.hide(swept)
        if has_name:
            swept = hide_assignments(swept)
        return text if swept == text else swept

    def tree(self, value: JsonValue) -> JsonValue:
        """Return `value` without its credentials; itself, if it has none."""
        if not isinstance(value, _CONTAINERS):
            return self._scalar(value)
        edits_by_id: dict[int, _Edits] = {}
        pending: list[_Container] = [value]
        while pending:
            node = pending.pop()
            is_object = isinstance(node, dict)
            edits = self._object(node, pending) if is_object else self._array(node, pending)
            if edits:
                edits_by_id[id(node)] = edits
        return _copy(value, edits_by_id) if edits_by_id else value

    def _document(self, text: str) -> str:
        """Sweep a string that is itself a JSON document, as tool results often are."""
        if not text.lstrip().startswith(("{", "[")):
            return text
        try:
            value: JsonValue = json.loads(text)
            swept = self.tree(value)
            return text if swept is value else dump(swept)
        except (ValueError, RecursionError):
            return text

    def _object(self, node: JsonObject, pending: list[_Container]) -> _Edits:
        edits: _Edits = {}
        names_value = self.hints and _NAMED_MEMBER in node and _has_telling_name(node)
        for key, child in node.items():
            # Two keys that are credentials become one member: a trace need not count them.
            new_key = self.text(key)
            is_named = self.hints and names_credential(new_key)
            if is_named or (names_value and key == _NAMED_MEMBER):
                swept = _hidden(child)
            else:
                swept = self._child(child, pending)
            if new_key != key or (swept is not child and swept != child):
                edits[key] = (new_key, swept)
        return edits

    def _array(self, node: list[JsonValue], pending: list[_Container]) -> _Edits:
        edits: _Edits = {}
        for index, child in enumerate(node):
            is_named = self.hints and index and _is_named_by(node[index - 1], child, node)
            swept = REDACTED if is_named else self._child(child, pending)
            if swept is not child and swept != child:
                edits[index] = ("", swept)
        return edits

    def _child(self, child: JsonValue, pending: list[_Container]) -> JsonValue:
        if isinstance(child, str):
            return self.text(child)
        if isinstance(child, _CONTAINERS):
            pending.append(child)
            return child
        return self._scalar(child)

    def _scalar(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if not self.literals or not isinstance(value, (int, float)):
            return value
        try:
            digits = repr(value)
        except ValueError:  # Python does not spell integers of thousands of digits
            return value
        return REDACTED if any(literal in digits for literal in self.literals) else value


def _holds_one_of(literals: tuple[str, ...], text: str) -> bool:
    # A loop, because a generator would take most of the time that short strings take.
    for literal in literals:  # noqa: SIM110 - see the line above
        if literal in text:
            return True
    return False


def _hidden(value: JsonValue) -> JsonValue:
    # Whether there is a credential may be told: `has_token: true`, `token: null`.
    return value if value is None or isinstance(value, bool) else REDACTED


def _has_telling_name(node: JsonObject) -> bool:
    names = (node.get(member) for member in _NAMING_MEMBERS)
    return any(
        names_credential(part)
        for name in names
        if isinstance(name, str)
        for part in _PATH_SIGN.split(name[:_LONGEST_PATH])
    )


def _is_named_by(before: JsonValue, child: JsonValue, node: list[JsonValue]) -> bool:
    """Say whether `child` is the value of a flag, or the second half of a name-value pair."""
    if not isinstance(before, str) or not isinstance(child, str):
        return False
    if before.startswith("-"):
        return not child.startswith("-") and "=" not in before and names_credential(before)
    return len(node) == _PAIR and not is_ordinary_word(child) and names_credential(before)


def _copy(root: _Container, edits_by_id: dict[int, _Edits]) -> JsonValue:
    """Copy a tree with its edits; a list of open containers stands in for recursion."""
    pending: list[tuple[_Container, _Container]] = []

    def begun(value: JsonValue) -> JsonValue:
        if not isinstance(value, _CONTAINERS):
            return value
        copy: _Container = {} if isinstance(value, dict) else []
        pending.append((value, copy))
        return copy

    result = begun(root)
    while pending:
        node, copy = pending.pop()
        edits = edits_by_id.get(id(node), {})
        if isinstance(node, dict):
            assert isinstance(copy, dict)
            for key, child in node.items():
                new_key, swept = edits.get(key, (key, child))
                copy[new_key] = begun(swept)
        else:
            assert isinstance(copy, list)
            copy.extend(begun(edits.get(index, ("", child))[1]) for index, child in enumerate(node))
    return result
