import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.domain.search import (
    LONGEST_WORD,
    MOST_TOKENS,
    KeyMatch,
    Tier,
    entry_tokens,
    fold,
    tiers,
    words_of,
)

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=80
)


def tier(query: str, match: KeyMatch, *, namespace: str | None = None) -> Tier | None:
    return next((tier for tier in tiers(query, namespace) if tier.key_match is match), None)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Deploy", "dEPLOY"),
        ("STRASSE", "straße"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("caf\u00e9", "cafe\u0301"),
        ("ǰ", "J\u030c"),
    ],
)
def test_text_is_compared_composed_and_without_regard_to_case(text: str, other: str) -> None:
    assert fold(text) == fold(other)


def test_accents_and_widths_still_count() -> None:
    assert len({fold("resume"), fold("résumé"), fold("\uff52esume")}) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("deploy the api", ["deploy", "the", "api"]),
        ("snake_case kebab-case dotted.name", ["snake", "case", "kebab", "case", "dotted", "name"]),
        ('v1.2, (x*y) "quoted" it\'s', ["v1", "2", "x", "y", "quoted", "it", "s"]),
        ("世界 hello世界", ["世", "界", "hello", "世", "界"]),
        ("カナ ไท", ["カ", "ナ", "ไ", "ท"]),
        ("héllo мир \U0001f6a2", ["héllo", "мир"]),
        ("%_\\'\"*", []),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_or_single_unspaced_characters(
    text: str, words: list[str]
) -> None:
    assert words_of(text) == words


def test_a_very_long_word_is_known_by_its_beginning() -> None:
    assert words_of("a" * 1000) == ["a" * LONGEST_WORD]


def test_an_entry_is_found_by_the_names_and_scalars_of_its_whole_value() -> None:
    tokens = entry_tokens(
        "default",
        "the-key",
        {
            "Title": "Plan",
            "steps": [{"name": "Build it"}, ["Nested", None, 42]],
            "done": True,
            "ratio": 1.5,
        },
    )
    expected = {"the", "key", "title", "plan", "steps", "name", "build", "it", "nested"}
    assert expected | {"42", "done", "true", "ratio", "1", "5"} <= set(tokens)
    assert "none" not in tokens
    assert "null" not in tokens


@given(namespace=names, key=names, text=names, query=names)
def test_no_token_has_anything_that_a_database_could_take_for_syntax(
    namespace: str, key: str, text: str, query: str
) -> None:
    tokens = entry_tokens(namespace, key, {"text": text})
    asked = [token for tier in tiers(query, namespace) for token in tier.tokens]
    special = set(map(chr, range(128))) - set(string.ascii_letters + string.digits)
    assert [token for token in tokens + asked if not token or special & set(token)] == []


@given(namespace=names, key=names, text=names)
def test_each_token_stands_once(namespace: str, key: str, text: str) -> None:
    tokens = entry_tokens(namespace, key, {"text": text, "again": [text, text, key]})
    assert len(tokens) == len(set(tokens))


def test_a_huge_value_brings_no_more_tokens_than_are_of_use() -> None:
    words = " ".join(map(str, range(200_000)))
    tokens = entry_tokens("default", "key", {"text": words})
    assert len(tokens) == MOST_TOKENS
    assert "key" in tokens


def test_a_ranking_goes_from_the_exact_key_over_its_parts_to_words() -> None:
    assert [tier.key_match for tier in tiers("deploy", None)] == [
        KeyMatch.WHOLE,
        KeyMatch.START,
        KeyMatch.INSIDE,
        KeyMatch.ABSENT,
    ]


@pytest.mark.parametrize("query", ["*", "%_", '"', "-- ;", "\U0001f6a2", "'"])
def test_a_query_without_a_word_is_looked_for_in_keys_only(query: str) -> None:
    assert tier(query, KeyMatch.ABSENT) is None
    assert tier(query, KeyMatch.INSIDE) is not None


@given(query=names, namespace=names)
def test_a_namespace_narrows_every_tier_that_is_looked_up(query: str, namespace: str) -> None:
    for anywhere, there in zip(tiers(query, None), tiers(query, namespace), strict=True):
        assert len(there.tokens) == (len(anywhere.tokens) + 1 if anywhere.tokens else 0)


@given(before=st.just("") | names, query=names, after=st.just("") | names)
def test_every_key_that_holds_the_query_carries_the_tokens_of_its_tier(
    before: str, query: str, after: str
) -> None:
    key, wanted = fold(before + query + after), fold(query)
    if wanted not in key:
        return  # composing joined a character of the query with its neighbour
    match = KeyMatch.WHOLE if key == wanted else KeyMatch.INSIDE
    if match is KeyMatch.INSIDE and key.startswith(wanted):
        match = KeyMatch.START
    found = tier(query, match, namespace="here")
    assert found is not None
    assert set(found.tokens) <= set(entry_tokens("here", before + query + after, {}))


@given(words=st.lists(st.text(string.ascii_letters + "é世", min_size=1), min_size=1, max_size=6))
def test_every_value_that_has_all_words_of_the_query_carries_their_tokens(
    words: list[str],
) -> None:
    found = tier(" ".join(words), KeyMatch.ABSENT, namespace="here")
    assert found is not None
    text = unicodedata.normalize("NFD", ", ".join(reversed(words)).upper())
    assert set(found.tokens) <= set(entry_tokens("here", "key", {"text": text}))
