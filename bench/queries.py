"""The kinds of searches that are measured, each with several texts to search for."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bench.dataset import SEED, Dataset, Entry

EACH = 30


@dataclass(frozen=True)
class Kind:
    """One row of the table."""

    name: str
    texts: Sequence[str]
    about: str


def kinds(data: Dataset) -> list[Kind]:
    """Return every kind; the texts are made from entries that all sizes have."""
    random = Random(SEED)
    entries = random.sample(list(data.entries(1_000)), EACH)
    return [*_words(data, random), *_keys(entries, random), *_short()]


def _words(data: Dataset, random: Random) -> list[Kind]:
    rare = random.sample(data.words[12_000:], EACH)
    common = [data.word_in(share) for share in (0.34, 0.32, 0.30, 0.28, 0.26)]
    medium = data.words[50:5_000]
    pairs = [" ".join(random.sample(medium, 2)) for _ in range(EACH)]
    return [
        Kind("a rare word", rare, "words that are in fewer than 1 of 2,500 values, and in no key"),
        Kind("a common word", common, "words that are in about 30 % of all values"),
        Kind(
            "two words", pairs, "two words of the middle of the vocabulary; both have to be there"
        ),
    ]


def _keys(entries: Sequence[Entry], random: Random) -> list[Kind]:
    keys = [entry.key for entry in entries]
    pieces = [_piece(key, random) for key in keys]
    return [
        Kind("start of a key", [key[:9] for key in keys], "the first 9 characters of a key"),
        Kind("inside of a key", pieces, "3 to 12 characters from the middle or end of a key"),
        Kind("a whole key", keys, "a key as it was stored; other tiers are searched all the same"),
    ]


def _short() -> list[Kind]:
    return [
        Kind("1 character, common", "aens", "a character that most keys have"),
        Kind("1 character, in no key", "qxyz", "every key is compared, because none has it"),
        Kind("2 characters, common", ("an", "er", "us", "or"), "a pair that many keys have"),
        Kind("2 characters, in no key", ("qx", "zq", "yx"), "every key is compared"),
    ]


def _piece(key: str, random: Random) -> str:
    size = random.randint(3, 12)
    start = random.randint(1, len(key) - size)
    return key[start : start + size]
