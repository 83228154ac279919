"""Memory entries made up the same way on every machine: the n-th entry never changes.

Words follow Zipf's law like those of real texts, so that a few are in almost every value
and most are in hardly any. Keys are paths, as people and agents write them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from quarterdeck.domain.json import JsonObject

SEED = 20_261_101
WORDS = 20_000
WORDS_A_VALUE = 40
NAMESPACES = ("default", "team", "research", "operations")
# Change this when entries come out differently, so that filled databases are made anew.
EDITION = "3"

_SYLLABLES = [a + b + c for a in "bdfghklmnprstvw" for b in "aeiou" for c in ("", "n", "r", "s")]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry on its way into a memory."""

    namespace: str
    key: str
    value: JsonObject


class Dataset:
    """An endless list of entries over one vocabulary."""

    def __init__(self) -> None:
        self.words: list[str] = _vocabulary()
        self._chances = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def entries(self, count: int) -> Iterator[Entry]:
        """Yield the first `count` entries."""
        random = Random(SEED)
        for number in range(count):
            words = random.choices(self.words, cum_weights=self._chances, k=WORDS_A_VALUE)
            value: JsonObject = {"text": " ".join(words), "stars": number % 6}
            namespace = NAMESPACES[random.randrange(len(NAMESPACES))]
            yield Entry(namespace, self._key(random, number), value)

    def word_in(self, share: float) -> str:
        """Return the word that is in about this share of all values."""
        chance: float = 1 - (1 - share) ** (1 / WORDS_A_VALUE)
        rank = round(1 / (chance * self._chances[-1]))
        return self.words[min(max(rank, 1), WORDS) - 1]

    def _key(self, random: Random, number: int) -> str:
        project = self.words[100 + random.randrange(300)]
        area = self.words[400 + random.randrange(60)]
        topic = self.words[500 + random.randrange(3000)]
        return f"{project}/{area}/{topic}-{number:06d}"


def _vocabulary() -> list[str]:
    """Return distinct words; the frequent ones are short, as in a language."""
    random = Random(SEED)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        size = 2 if len(words) < 300 else random.choice((2, 3, 3, 4))
        words.setdefault("".join(random.choices(_SYLLABLES, k=size)))
    return list(words)
