"""Credentials in free text that are recognised by the name they are given to.

Text is not a format, so this is a judgement. What stands in quotes, after an equals sign or
after a flag is taken for the credential. After a colon it may as well be prose: it has to have
six characters, and an ordinary word with other words beside it stays. Remarks such as
"required" or "expired" stay everywhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from quarterdeck.domain.credentials.form import REDACTED, is_ordinary_word
from quarterdeck.domain.credentials.names import (
    HINTS,
    Hint,
    lowered,
    names_credential,
    word_set,
)

_Span: TypeAlias = tuple[int, int]

# Between a name and its value: the end of a quoted name, then a sign; `>` ends an XML tag, and
# a blank is enough after a flag. Quotes may be escaped, several times over.
_ASSIGNMENTS = {
    hint: re.compile(
        rf"(?P<name>{hint.pattern}[a-z0-9_.-]{{0,24}}+)(?P<quote>\\{{0,8}}[\"'`])?\]?"
        r"(?P<sign>[ \t]*+(?:=>|:=|={1,2}|:(?!:))[ \t]*+|,?[ \t]++(?!-)|>)"
    )
    for hint in HINTS
}
_IN_A_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_LONGEST_NAME = 64

_QUOTED = re.compile(
    r"[bBfFrRuU]{0,2}(?P<open>\\{0,8}[\"'`])(?P<value>.*?)(?<!\\)(?P=open)", re.DOTALL
)
# The text was cut before the closing quote.
_OPENED = re.compile(r"[bBfFrRuU]{0,2}\\{0,8}[\"'`](?P<value>[^\r\n]*)")
# A comma, semicolon or ampersand ends a value only where something else plainly begins. The
# name of a scheme belongs to the value.
_BARE = re.compile(
    r"(?:(?:Basic|Bearer|Digest|Token) +)?"
    r"(?:[^\s\"'`,;&<\\]|[,;&](?![\s\"'`\])}]|\Z|[\w.-]{1,40}=)|\\(?![nrt\"']))++"
)
# The secret half of an AWS key has no form but its length.
_AWS_SECRET = re.compile(r"(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])")
_ELEMENT = re.compile(r"(?P<value>[^<]+)</")
_BRACKET = re.compile(r"[\[\]{}]")
_LINE_END = re.compile(r"[\r\n]|\\[nr]|\Z")
_MORE_WORDS = re.compile(r"[ \t]+[A-Za-z(]")
_CLOSING = ")]}.,:;"

# After a colon these take the rest of the line: they have several words, or pairs of their own.
_WHOLE_LINE = ("authorization", "cookie", "cookies", "passphrase")

_REMARKS = word_set(
    """
    absent accepted and any are argument array bool boolean bytes can changed denied disabled
    empty enabled error expired failed false field flag for from has hidden incorrect integer
    invalid is malformed may mismatch missing must needed nil none not null number object optional
    option parameter present provided redacted refused rejected removed required revoked set str
    string the true undefined unexpected unknown unset valid value was will with wrong
    """
)
_SHORTEST = 3
_SHORTEST_AFTER_COLON = 6


@dataclass(frozen=True, slots=True)
class _Assignment:
    """A credential's name in a text, and where the value given to it begins."""

    text: str
    name: str
    begin: int
    quote: str | None
    sign: str
    value: int

    @property
    def is_flag(self) -> bool:
        return self.text[self.begin] == "-"

    @property
    def may_be_prose(self) -> bool:
        return not self.is_flag and "=" not in self.sign

    @property
    def character_before(self) -> str:
        return self.text[max(0, self.begin - 1) : self.begin]


def hide_assignments(text: str) -> str:
    """Replace what `text` assigns to the names of credentials."""
    lower = lowered(text)
    spans = [span for hint in HINTS if hint.literal in lower for span in _spans(text, lower, hint)]
    pieces: list[str] = []
    done = 0
    for begin, end in sorted(spans):
        if begin >= done:
            pieces += (text[done:begin], REDACTED)
        done = max(done, end)
    return "".join((*pieces, text[done:])) if spans else text


def _spans(text: str, lower: str, hint: Hint) -> Iterator[_Span]:
    done = 0
    for match in _ASSIGNMENTS[hint].finditer(lower):
        # A value may reach far; looking again at what it covers would take quadratic time.
        if match.start() < done:
            continue
        found = _assignment(text, match, hint)
        span = _value_span(found) if found else None
        if span is not None:
            done = span[1]
            yield span


def _assignment(text: str, match: re.Match[str], hint: Hint) -> _Assignment | None:
    begin = _name_begin(text, match.start())
    name = text[min(begin, max(0, match.start() - hint.reach)) : match.end("name")]
    # In `scheme://token:...@host` the name is a user's, and its password is already hidden.
    if not names_credential(name) or text.endswith("://", 0, begin):
        return None
    return _Assignment(text, name, begin, match["quote"], match["sign"], match.end())


def _name_begin(text: str, at: int) -> int:
    begin = at
    while begin > max(0, at - _LONGEST_NAME) and text[begin - 1] in _IN_A_NAME:
        begin -= 1
    is_escape = text[max(0, begin - 1) : begin + 1] in {"\\n", "\\r", "\\t"}
    return begin + 1 if is_escape and begin < at else begin


def _value_span(found: _Assignment) -> _Span | None:
    text, at = found.text, found.value
    if found.sign == ">":
        return _span(_ELEMENT.match(text, at)) if found.character_before == "<" else None
    if not found.sign.strip(", \t") and not found.is_flag:
        return _behind_blank(found)
    quoted = _QUOTED.match(text, at) or _OPENED.match(text, at)
    takes_line = ":" in found.sign and found.name.lower().endswith(_WHOLE_LINE)
    if takes_line and not (quoted and found.quote):
        return _rest_of_line(found)
    if quoted:
        return _span(quoted)
    if text.startswith(("{", "["), at) and not text.startswith(REDACTED, at):
        return _bracketed(text, at)
    return _bare(found)


def _behind_blank(found: _Assignment) -> _Span | None:
    """Find what needs no sign: a password quoted as in SQL, an AWS key in a table."""
    name = found.name.lower()
    if name.endswith(("password", "passphrase")):
        return _span(_QUOTED.match(found.text, found.value))
    if name.endswith(("access_key", "accesskey", "access key")):
        return _span(_AWS_SECRET.match(found.text, found.value))
    return None


def _span(match: re.Match[str] | None) -> _Span | None:
    if match is None or _is_remark(match["value"]):
        return None
    return match.span("value")


def _is_remark(value: str) -> bool:
    word = value.strip(" \t()[]{}.,:;!?").lower()
    return not word or word in _REMARKS


def _bracketed(text: str, at: int) -> _Span | None:
    depth = 0
    for bracket in _BRACKET.finditer(text, at):
        depth += 1 if bracket[0] in "[{" else -1
        if not depth:
            inside = text[at + 1 : bracket.start()]
            return None if _is_remark(inside) else (at, _bare_end(text, bracket.end()))
    return at, len(text)


def _rest_of_line(found: _Assignment) -> _Span | None:
    text, at = found.text, found.value
    line_end = _LINE_END.search(text, at)
    end = line_end.start() if line_end else len(text)
    # In `-H "Authorization: ..."` the quote before the name ends the value.
    if found.quote is None and found.character_before in {'"', "'"}:
        closing = text.find(found.character_before, at, end)
        end = closing if closing >= 0 else end
    return None if _is_remark(text[at:end]) else (at, end)


def _bare(found: _Assignment) -> _Span | None:
    text, at = found.text, found.value
    end = _bare_end(text, at)
    is_loose = found.may_be_prose and found.quote is None
    if end - at < (_SHORTEST_AFTER_COLON if is_loose else _SHORTEST) or _is_remark(text[at:end]):
        return None
    return None if found.may_be_prose and _is_prose(found, end) else (at, end)


def _bare_end(text: str, at: int) -> int:
    match = _BARE.match(text, at)
    if match is None:
        return at
    end = at + len(match[0].rstrip(_CLOSING))
    # A replacement ends in a bracket of its own.
    return end + 1 if text.endswith(REDACTED, at, end + 1) else end


def _is_prose(found: _Assignment, end: int) -> bool:
    text = found.text
    if not is_ordinary_word(text[found.value : end]):
        return False
    before = text[max(0, found.begin - 8) : found.begin].rstrip(" \t")
    return before[-1:].isalnum() or _MORE_WORDS.match(text, end) is not None
