"""JSON as editors write it, with comments and trailing commas: each part, and where it stands."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from quarterdeck.client_configs.unusable import Unusable

BYTE_ORDER_MARK = "\ufeff"
DEEPEST = 200
TOKEN = re.compile(
    r"""
      (?P<trivia>  [ \t\r\n\ufeff]++ | //[^\r\n]*+ | /\*.*?\*/ )
    | (?P<string>  "(?:[^"\\\x00-\x1f]++ | \\(?:["\\/bfnrt] | u[0-9a-fA-F]{4}))*+" )
    | (?P<atom>    (?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)? | true | false | null)(?!\w) )
    | (?P<mark>    [{}\[\]:,] )
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int


class Member(NamedTuple):
    """A key and its value; `comma` is where the comma after it stands, if there is one."""

    key: str
    start: int
    value: "Value"
    comma: int | None


class Value(NamedTuple):
    """What stands from `start` up to `end`; only an object has `members`."""

    start: int
    end: int
    data: object
    members: tuple[Member, ...] | None = None

    def member(self, key: str) -> Member | None:
        """Return the member of this name; of several, the one that parsers take."""
        return next((found for found in reversed(self.members or ()) if found.key == key), None)


def parse(text: str) -> Value | None:
    """Return the document's value; None when there are only blanks and comments.

    Raises:
        Unusable: names the line and the column of the first mistake.
    """
    reader = _Reader(text)
    if reader.next.kind == "end":
        return None
    value = reader.value(depth=0)
    reader.expect("end", "the end of the file")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self.next = next(self._tokens)

    def take(self) -> Token:
        token = self.next
        if token.kind != "end":
            self.next = next(self._tokens)
        return token

    def expect(self, kind: str, wanted: str) -> Token:
        if kind not in {self.next.kind, self.next.text}:
            raise self.problem(f"expected {wanted}")
        return self.take()

    def problem(self, reason: str) -> Unusable:
        return Unusable.broken(self._text, self.next.start, reason)

    def value(self, depth: int) -> Value:
        if depth > DEEPEST:
            raise self.problem(f"nested deeper than {DEEPEST} levels")
        if self.next.text == "{":
            return self._object(depth)
        if self.next.text == "[":
            return self._array(depth)
        if self.next.kind not in {"string", "atom"}:
            raise self.problem("expected a value")
        token = self.take()
        return Value(token.start, token.start + len(token.text), json.loads(token.text))

    def _object(self, depth: int) -> Value:
        start = self.take().start
        members: list[Member] = []
        while self.next.text != "}":
            members.append(self._member(depth))
            if members[-1].comma is None:
                break
        end = self.expect("}", "',' or '}'").start + 1
        data = {member.key: member.value.data for member in members}
        return Value(start, end, data, tuple(members))

    def _member(self, depth: int) -> Member:
        key = self.expect("string", "a key in double quotes")
        self.expect(":", "':'")
        value = self.value(depth + 1)
        return Member(json.loads(key.text), key.start, value, self._comma())

    def _array(self, depth: int) -> Value:
        start = self.take().start
        items: list[object] = []
        while self.next.text != "]":
            items.append(self.value(depth + 1).data)
            if self._comma() is None:
                break
        end = self.expect("]", "',' or ']'").start + 1
        return Value(start, end, items)

    def _comma(self) -> int | None:
        return self.take().start if self.next.text == "," else None


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Unusable.broken(text, at, "this is no JSON")
        if match.lastgroup and match.lastgroup != "trivia":
            yield Token(match.lastgroup, match.group(), at)
        at = match.end()
    yield Token("end", "", at)
