"""How memory is searched: the tokens an entry is found by, and the tiers that rank matches.

Both databases only answer "the newest rows that carry all these tokens"; what the tokens
are and which match comes first is decided here, so the answers are the same on both. A
query is text: nothing in it is ever read as search syntax.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from quarterdeck.domain.json import JsonObject, JsonValue

# Runs of the key that are indexed. One length would do, but runs of three are shared by so many
# keys that to find none with all of them took longer than everything else together.
SHORT_GRAM = 3
LONG_GRAM = 4
LONGEST_WORD = 64
# A value of 1 MiB can hold 200,000 words; past this many more words find it no better.
MOST_TOKENS = 10_000
# PostgreSQL limits an index key to 2,704 bytes; a longer key is compared after the look-up.
LONGEST_WHOLE = 200
# Enough runs to leave few false candidates; the key itself is compared afterwards.
MOST_QUERY_GRAMS = 24

# Scripts without spaces between words are indexed by character.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")

# Marks tell kinds of tokens apart. They and the stand-ins for ASCII punctuation are private-use
# characters: SQLite's `ascii` tokenizer keeps them inside a token and no word contains them.
_NAMESPACE, _WHOLE, _START, _INSIDE = "\ue100", "\ue101", "\ue102", "\ue103"
_STAND_INS = {code: 0xE000 + code for code in range(128) if not chr(code).isalnum()}


class KeyMatch(StrEnum):
    """Where the query stands in the key; each is one tier of the ranking."""

    WHOLE = "whole"
    START = "start"
    INSIDE = "inside"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Tier:
    """One step of the ranking: rows with all `tokens` whose key matches the query like this.

    Without tokens every row is a candidate: no run is as short as one or two characters.
    """

    key_match: KeyMatch
    tokens: tuple[str, ...]


def fold(text: str) -> str:
    """Return `text` as it is compared: composed, without regard to case."""
    return unicodedata.normalize("NFC", text).casefold()


def words_of(text: str) -> list[str]:
    """Return the words of folded text."""
    return [word[:LONGEST_WORD] for word in _WORD.findall(text)]


def entry_tokens(namespace: str, key: str, value: JsonObject) -> list[str]:
    """Return everything an entry can be found by, each token once."""
    tokens = dict.fromkeys(_key_tokens(namespace, fold(key)))
    for text in _texts(value):
        if len(tokens) > MOST_TOKENS:
            break
        tokens |= dict.fromkeys(words_of(fold(text)))
    return list(tokens)[:MOST_TOKENS]


def tiers(query: str, namespace: str | None) -> Iterator[Tier]:
    """Yield the ranking of a query, best tier first: exact key, prefix, substring, words."""
    folded = fold(query)
    spelled = _spelled(folded)
    where = () if namespace is None else (_NAMESPACE + _spelled(namespace),)
    grams = _cover(spelled)
    yield Tier(KeyMatch.WHOLE, (_WHOLE + spelled[:LONGEST_WHOLE], *where))
    yield Tier(KeyMatch.START, (_START + spelled[:SHORT_GRAM], *grams, *where))
    yield Tier(KeyMatch.INSIDE, (*grams, *where) if grams else ())
    if words := dict.fromkeys(words_of(folded)):
        yield Tier(KeyMatch.ABSENT, (*words, *where))


def _key_tokens(namespace: str, folded: str) -> list[str]:
    spelled = _spelled(folded)
    return [
        _NAMESPACE + _spelled(namespace),
        _WHOLE + spelled[:LONGEST_WHOLE],
        *(_START + spelled[:size] for size in range(1, SHORT_GRAM + 1)),
        *_grams(spelled, SHORT_GRAM, range(len(spelled) - SHORT_GRAM + 1)),
        *_grams(spelled, LONG_GRAM, range(len(spelled) - LONG_GRAM + 1)),
        *words_of(folded),
    ]


def _cover(spelled: str) -> tuple[str, ...]:
    """Return the fewest grams that hold every character of a query, none if it is too short.

    Each gram more is one more list of rows to walk.
    """
    size = LONG_GRAM if len(spelled) >= LONG_GRAM else SHORT_GRAM
    last = len(spelled) - size
    if last < 0:
        return ()
    starts = [*range(0, last, size), last][:MOST_QUERY_GRAMS]
    return tuple(dict.fromkeys(_grams(spelled, size, starts)))


def _grams(spelled: str, size: int, starts: Iterable[int]) -> list[str]:
    return [_INSIDE + spelled[at : at + size] for at in starts]


def _spelled(text: str) -> str:
    """Return `text` as tokens spell it, character by character."""
    return text.translate(_STAND_INS)


def _texts(value: JsonObject) -> Iterator[str]:
    """Yield every name and scalar of a JSON document, in document order."""
    waiting: list[JsonValue] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield from item
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list):
            waiting.extend(reversed(item))
        elif item is not None:
            yield item if isinstance(item, str) else str(item)
