"""Both databases give the answer that a naive search over all entries would give."""

import unicodedata
from dataclasses import dataclass
from itertools import count
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quarterdeck.domain.json import JsonObject, JsonValue
from quarterdeck.domain.memory import KEY_LENGTH, QUERY_LENGTH
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql import memory_index
from tests.support.stores import Database

UNSPACED = "界語かなカナไทย"

Name = tuple[str, str]


@dataclass(frozen=True)
class Change:
    verb: Literal["store", "remove"]
    namespace: str
    key: str
    value: JsonObject


class Reference:
    """The ranking in its plainest form: look at everything, sort by tier, then newest."""

    def __init__(self) -> None:
        self._entries: dict[Name, tuple[int, JsonObject]] = {}
        self._clock = count()

    def apply(self, change: Change) -> None:
        name = (change.namespace, change.key)
        self._entries.pop(name, None)
        if change.verb == "store":
            self._entries[name] = (next(self._clock), change.value)

    def search(self, query: str, namespace: str | None, limit: int) -> list[Name]:
        ranked = [
            (rank, -stored, name)
            for name, (stored, value) in self._entries.items()
            if namespace in {None, name[0]}
            and (rank := rank_of(plain(query), plain(name[1]), value)) is not None
        ]
        return [name for _, _, name in sorted(ranked)][:limit]


def rank_of(query: str, key: str, value: JsonObject) -> int | None:
    if key == query:
        return 0
    if key.startswith(query):
        return 1
    if query in key:
        return 2
    wanted = words(query)
    return 3 if wanted and wanted <= words(key) | value_words(value) else None


def plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def words(text: str) -> set[str]:
    spaced = "".join(f" {c} " if c in UNSPACED else c if c.isalnum() else " " for c in text)
    return set(spaced.split())


def value_words(value: JsonValue) -> set[str]:
    match value:
        case dict():
            names = (words(plain(name)) for name in value)
            return set[str]().union(*names, *map(value_words, value.values()))
        case list():
            return set[str]().union(*map(value_words, value))
        case None:
            return set()
        case _:
            return words(plain(str(value)))


async def change(database: Database, reference: Reference, changes: list[Change]) -> None:
    def decide(tx: Transaction) -> None:
        for each in changes:
            if each.verb == "store":
                database.put(tx, each.key, each.value, namespace=each.namespace)
            else:
                database.memory.remove(tx, each.namespace, each.key)

    await database.store.write(decide)
    for each in changes:
        reference.apply(each)


async def search(database: Database, query: str, namespace: str | None, limit: int) -> list[Name]:
    rows = await database.store.read(lambda tx: database.memory.search(tx, query, namespace, limit))
    return [(row.namespace, row.key) for row in rows]


# Small alphabets, so that keys, words and queries meet often.
short = st.text("abAß-_ %界é", min_size=1, max_size=6)
namespaces = st.sampled_from(["one", "two", "One"])
texts = st.lists(st.sampled_from(["a", "ab", "AB", "b-a", "界語", "é", "E\u0301", "ss"])).map(
    " ".join
)
values = st.dictionaries(
    st.sampled_from(["a", "b"]), texts | st.booleans() | st.integers(0, 3) | st.lists(texts)
)
changes = st.lists(
    st.builds(Change, st.sampled_from(["store"] * 4 + ["remove"]), namespaces, short, values),
    max_size=12,
)
queries = st.tuples(
    short | st.text("aAbé界", min_size=1, max_size=2) | texts.filter(bool),
    st.none() | namespaces,
    st.integers(1, 5),
)


@pytest.fixture(params=[2, memory_index.FEW], ids=["words are common", "words are rare"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PostgreSQL take each of its two ways to a word."""
    monkeypatch.setattr(memory_index, "FEW", request.param)


@pytest.mark.usefixtures("few")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(first=changes, second=changes, questions=st.lists(queries, min_size=1, max_size=8))
async def test_the_answer_is_that_of_a_naive_search_whatever_was_stored_replaced_and_removed(
    database: Database,
    first: list[Change],
    second: list[Change],
    questions: list[tuple[str, str | None, int]],
) -> None:
    await database.clear()
    reference = Reference()
    for changes in (first, second):
        await change(database, reference, changes)
        for query, namespace, limit in questions:
            expected = reference.search(query, namespace, limit)
            assert await search(database, query, namespace, limit) == expected


SYNTAX = [
    '"', '""', "'", "''", "*", "a*", "^a", "-a", "+a", "(", ")", "()", "{a b}", "a:b", "tokens:a",
    "key : a", "NEAR", "NEAR(a b)", "NEAR(a b, 2)", "AND", "a AND b", "a OR b", "NOT", "a NOT b",
    "%", "_", "a%", "a_b", "\\", "\\\\", "\\%", "$1", "%s", "%(name)s", ":name", "?", ";", "--",
    "/*", "a' OR '1'='1", '"; DROP TABLE memory; --', "memory_tokens", "rank", "[a]", ".*", "a|b",
    "&", "a & b", "!a", "<->", "\x01", "\n", "\t", " ", "  a", "\ue000", "\ue100a", "\ue101",
]  # fmt: skip


@pytest.mark.parametrize("query", SYNTAX)
async def test_a_query_is_text_and_never_syntax(database: Database, query: str) -> None:
    reference = Reference()
    keys = ["a", "b", "ab", "a b", "axb", "plain", f"x{query}", f"{query}y", query, query * 2]
    stored = [Change("store", "one", key, {"text": f"a {query} b"}) for key in keys]
    await change(database, reference, stored)
    expected = reference.search(query, None, 100)
    assert ("one", query) in expected
    assert await search(database, query, None, 100) == expected


RANKED: list[tuple[str, JsonObject]] = [
    ("deploy", {"note": "exact"}),
    ("deploy-plan", {"note": "prefix"}),
    ("DEPLOY-newer", {"note": "prefix, newer"}),
    ("old-deploy", {"note": "inside"}),
    ("runbook", {"note": "how we Deploy, in words"}),
    ("numbers", {"deploy": 1}),
    ("nested", {"a": [{"b": "deploy"}]}),
    ("deployment", {"note": "prefix, newest"}),
    ("redeployed", {"note": "inside, newer"}),
    ("other", {"note": "deployed is another word"}),
]


async def test_the_ranking_is_exact_key_prefix_substring_words_and_newest_in_each(
    database: Database,
) -> None:
    stored = [Change("store", "one", key, value) for key, value in RANKED]
    await change(database, Reference(), stored)
    assert await database.search("Deploy") == [
        "deploy",
        "deployment",
        "DEPLOY-newer",
        "deploy-plan",
        "redeployed",
        "old-deploy",
        "nested",
        "numbers",
        "runbook",
    ]


async def test_an_overwritten_value_is_found_by_its_new_words_only(database: Database) -> None:
    await database.keep("key", {"text": "apples and pears"})
    await database.keep("key", {"text": "cherries and pears"})
    assert await database.search("apples") == []
    assert await database.search("cherries") == ["key"]
    assert await database.search("pears") == ["key"]


async def test_long_keys_that_differ_late_are_told_apart(database: Database) -> None:
    """Only a part of a long key or query is looked up; the rest has to be compared."""
    stem = "".join(chr(0x4E00 + n) for n in range(KEY_LENGTH - 2))
    keys = [f"{stem}-a", f"{stem}-b", stem, f"{stem[:300]}x{stem[300:400]}"]
    reference = Reference()
    await change(database, reference, [Change("store", "one", key, {}) for key in keys])
    for query in (*keys, stem[:250], stem[250:350], stem[1:], f"{stem[290:300]}x{stem[300:390]}"):
        naive = [name for name in reference.search(query, None, 10) if plain(query) in name[1]]
        found = await search(database, query, None, 10)
        assert [name for name in found if plain(query) in name[1]] == naive
        assert naive


async def test_the_longest_query_of_different_words_is_answered(database: Database) -> None:
    """Scripts without blanks make each character a word."""
    query = "".join(chr(0x4E00 + number) for number in range(QUERY_LENGTH))
    await database.keep("scattered", {"text": query[::-1]})
    await database.keep("one missing", {"text": query[:-1]})
    assert await database.search(query) == ["scattered"]


async def test_a_limit_is_kept_across_tiers(database: Database) -> None:
    stored = [Change("store", "one", key, value) for key, value in RANKED]
    await change(database, Reference(), stored)
    everything = await database.search("deploy")
    for limit in range(1, len(everything) + 1):
        assert await database.search("deploy", limit=limit) == everything[:limit]
