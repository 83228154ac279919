import copy
import json
import re
import time
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.domain.json import JsonObject, JsonValue, dump
from quarterdeck.domain.redaction import REDACTED, Redactor
from tests.domain.credentials.fakes import BY_FORM, CODER_SESSION, PASSWORD

redactor = Redactor()

NAMED: list[tuple[JsonValue, JsonValue]] = [
    ({"password": "a"}, {"password": REDACTED}),
    ({"password": ""}, {"password": REDACTED}),
    ({"pin": 1, "access_token": 12345}, {"pin": 1, "access_token": REDACTED}),
    ({"credentials": {"user": "ada", "x": [1]}}, {"credentials": REDACTED}),
    ({"a": [{"cookies": ["x", "y"]}]}, {"a": [{"cookies": REDACTED}]}),
    ({"has_token": True, "token": None}, {"has_token": True, "token": None}),
    ({"max_tokens": 5, "key": "k", "author": "a"}, {"max_tokens": 5, "key": "k", "author": "a"}),
]

# One member, or the item before, says what another one is.
PAIRS: list[tuple[JsonValue, JsonValue]] = [
    (
        {"key": "github_token", "value": {"v": "abc"}, "namespace": "default"},
        {"key": "github_token", "value": REDACTED, "namespace": "default"},
    ),
    ({"name": "API_KEY", "value": "abc"}, {"name": "API_KEY", "value": REDACTED}),
    ([{"variable": "dbPassword", "value": 1}], [{"variable": "dbPassword", "value": REDACTED}]),
    ({"key": "prod/secrets/db", "value": "a"}, {"key": "prod/secrets/db", "value": REDACTED}),
    (
        {"key": "db", "namespace": "credentials", "value": {"v": 1}},
        {"key": "db", "namespace": "credentials", "value": REDACTED},
    ),
    ({"name": "API_KEY", "value": None}, {"name": "API_KEY", "value": None}),
    ({"name": "API_KEY", "note": "abc"}, {"name": "API_KEY", "note": "abc"}),
    ({"key": "token_budget", "value": {"v": 1}}, {"key": "token_budget", "value": {"v": 1}}),
    ({"key": 1, "value": "abc"}, {"key": 1, "value": "abc"}),
    (["run", "--token", "abc", "x"], ["run", "--token", REDACTED, "x"]),
    (["--token", "--verbose", 1], ["--token", "--verbose", 1]),
    ([["X-Api-Key", "abc123"]], [["X-Api-Key", REDACTED]]),
    ({"required": ["password", "username"]}, {"required": ["password", "username"]}),
]

FORMS_IN_TREES: list[tuple[JsonValue, JsonValue]] = [
    ({"note": f"see {CODER_SESSION}"}, {"note": f"see {REDACTED}"}),
    ({CODER_SESSION: [1]}, {REDACTED: [1]}),
    (CODER_SESSION, REDACTED),
    # A string that is a document: the text block of a tool's result.
    ({"text": '{"credentials": ["a", "b"]}'}, {"text": '{"credentials":"[redacted]"}'}),
    (
        {"text": json.dumps({"text": json.dumps({"secret": {"a": 1}})})},
        {"text": dump({"text": dump({"secret": REDACTED})})},
    ),
]

INNOCENT: JsonValue = {
    "key": "notes/2026-11-15",
    "value": {"text": "the token is invalid", "tags": ["a", "password"], "n": [1, 2.5, None, True]},
    "id": "550e8400-e29b-41d4-a716-446655440000",
    "commit": "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "usage": {"max_tokens": 10, "input_tokens": 3},
}

# What redaction reacts to, and what stands between: random text from these finds the seams.
FRAGMENTS = [
    *(
        "token",
        "password",
        "secret",
        "api_key",
        "API key",
        "cookie",
        "key",
        "name",
        "value",
        "page",
    ),
    *(
        ": ",
        "=",
        '"',
        "'",
        "\\",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "</",
        ",",
        "&",
        ";",
        "@",
        "://",
        "%3D",
    ),
    *(
        "Bearer ",
        " Basic bm9ib2R5Om5vdGhpbmc= ",
        "Authorization: ",
        "--token ",
        "user:",
        "eyJ",
        "sk-",
    ),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "a" * 20, "hunter22", "required"),
    *(" ", "\n", "\\n", '\\"', "\x1b[31m", "\u0130", "é", "1", "-", "_", ".", "/", REDACTED),
    *('{"password":"abc"}', "ghp_" + "a" * 36, f" {'c3' * 5}-{'D4' * 11} ", "this-installation's"),
]
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join) | st.text(max_size=10)
names = st.sampled_from(["key", "name", "value", "token", "tokens", "password"]) | texts
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, width=32)
trees = st.recursive(
    scalars.filter(lambda value: value not in {float("inf"), float("-inf")}) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=10,
)
innocent_trees = st.recursive(
    scalars | st.sampled_from(["the build passed", "src/app.py", "2026-11-15", "é", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "key", "max_tokens", "text"]), inner, max_size=4)
    ),
    max_leaves=10,
)
# A secret with a bracket could be put together again by the replacement's own.
secrets = st.text(min_size=6, max_size=30).filter(
    lambda text: text == text.strip() and not set("[]") & set(text) and text not in REDACTED
)


@pytest.mark.parametrize(("value", "expected"), NAMED + PAIRS + FORMS_IN_TREES)
def test_a_tree_and_its_json_lose_their_credentials(value: JsonValue, expected: JsonValue) -> None:
    assert redactor.tree(value) == expected
    assert json.loads(redactor.json(dump(value))) == expected


def test_an_innocent_tree_comes_back_as_the_same_object() -> None:
    assert redactor.tree(INNOCENT) is INNOCENT
    assert redactor.json(dump(INNOCENT)) == dump(INNOCENT)


@given(innocent_trees)
def test_what_is_innocent_is_left_alone(value: JsonValue) -> None:
    assert redactor.tree(value) is value


@given(
    st.sampled_from(sorted(BY_FORM.values())),
    st.sampled_from(["{}", "see {} there", '"{}"', "a\n{}\n", "header: {}", "https://host/{}/x"]),
    trees,
    st.data(),
)
def test_a_planted_credential_survives_nowhere(
    credential: str, surrounding: str, tree: JsonValue, data: st.DataObject
) -> None:
    text = surrounding.format(credential)
    planted = plant(text, tree, data)
    assert credential not in redactor.text(text)
    assert not is_in(credential, redactor.tree(planted))
    assert not is_in(credential, json.loads(redactor.json(dump(planted))))


@given(st.sampled_from(["password", "githubToken", "X-Api-Key", "CLIENT_SECRET"]), trees, st.data())
def test_a_named_credential_survives_nowhere(
    name: str, tree: JsonValue, data: st.DataObject
) -> None:
    planted = plant({name: {"deep": [PASSWORD]}}, tree, data)
    assert not is_in(PASSWORD, redactor.tree(planted))
    assert not is_in(PASSWORD, json.loads(redactor.json(dump(planted))))
    assert PASSWORD not in redactor.text(f"{name}={PASSWORD}")
    assert PASSWORD not in redactor.text(f'failed with {{"{name}": "{PASSWORD}"}}')


@given(secrets, texts, texts, trees, st.data())
def test_a_secret_of_this_installation_survives_nowhere(
    secret: str, before: str, after: str, tree: JsonValue, data: st.DataObject
) -> None:
    own = Redactor([secret])
    planted = plant(before + secret + after, tree, data)
    assert secret not in own.text(before + secret + after)
    assert not is_in(secret, own.tree(planted))
    assert not is_in(secret, json.loads(own.json(dump(planted))))


@pytest.mark.parametrize("secret", ['pa"ss\\wörd', "a b/c+d&e", "line\nbreak", "ключ-123"])
def test_a_secret_is_also_found_in_its_escaped_spellings(secret: str) -> None:
    own = Redactor([f" {secret}\n"])
    spellings = {
        secret,
        dump(secret)[1:-1],
        json.dumps(secret)[1:-1],
        quote(secret),
        quote(secret, safe=""),
        re.sub("%..", lambda escape: escape[0].lower(), quote(secret)),
        quote_plus(secret),
    }
    for spelling in spellings:
        assert own.text(f"x{spelling}y") == f"x{REDACTED}y"
    assert own.json(json.dumps([f"x{secret}y"])) == f'["x{REDACTED}y"]'
    assert own.json(dump([f"x{secret}y"])) == f'["x{REDACTED}y"]'


def test_a_secret_of_digits_is_hidden_where_it_is_a_number() -> None:
    own = Redactor(["20261115"])
    assert own.tree({"a": 20261115, "b": 7.5, "c": True}) == {"a": REDACTED, "b": 7.5, "c": True}
    assert own.json('{"a":20261115}') == f'{{"a":"{REDACTED}"}}'
    assert own.tree([10**5000]) == [10**5000]


def test_a_longer_secret_is_not_cut_apart_by_a_shorter_one() -> None:
    assert Redactor(["secret", "secret-and-more"]).text("secret-and-more") == REDACTED


@pytest.mark.parametrize("secret", ["", "short", "redacted", " 12345 "])
def test_a_secret_too_short_or_part_of_the_replacement_is_left_alone(secret: str) -> None:
    text = f"[redacted] {secret} text"
    assert Redactor([secret]).text(text) == text


def test_a_secret_with_a_lone_surrogate_is_accepted() -> None:
    own = Redactor(["half-\ud83d-pair"])
    assert own.tree(["x half-\ud83d-pair"]) == [f"x {REDACTED}"]
    assert own.json(json.dumps(["half-\ud83d-pair", "\ud83d"])) == f'["{REDACTED}","\\ud83d"]'


@given(texts)
def test_redacting_a_text_twice_changes_nothing_more(text: str) -> None:
    once = redactor.text(text)
    assert redactor.text(once) == once


@given(trees)
def test_redacting_a_tree_twice_changes_nothing_more(value: JsonValue) -> None:
    once = redactor.tree(value)
    assert redactor.tree(once) is once


@given(trees)
def test_a_tree_is_never_changed_in_place(value: JsonValue) -> None:
    before = copy.deepcopy(value)
    redactor.tree(value)
    assert value == before


@given(trees)
def test_json_text_is_redacted_exactly_as_its_tree_is(value: JsonValue) -> None:
    own = Redactor(["this-installation's"])
    assert own.json(dump(value)) == dump(own.tree(value))


@pytest.mark.parametrize(
    "document",
    [
        r'{"pa\u0073sword":"abc"}',
        r'{"note":"https:\/\/ada:abc@host"}',
        '{"password":"abc","password":null}',
        '{ "password" : "abc" }',
    ],
)
def test_an_unusual_spelling_of_json_hides_nothing(document: str) -> None:
    redacted = redactor.json(document)
    assert "abc" not in redacted
    json.loads(redacted)


@pytest.mark.parametrize("document", ['{"password":"abc"', "password=abc", '["token",1e999]'])
def test_a_document_that_cannot_be_rewritten_is_replaced_as_a_whole(document: str) -> None:
    assert redactor.json(document) == f'"{REDACTED}"'


@pytest.mark.parametrize("levels", [100, 1000, 100_000])
def test_nesting_of_any_depth_is_redacted(levels: int) -> None:
    value: JsonValue = {"password": PASSWORD}
    for _ in range(levels):
        value = [value]
    swept = redactor.tree(value)
    for _ in range(levels):
        assert isinstance(swept, list)
        swept = swept[0]
    assert swept == {"password": REDACTED}


@pytest.mark.parametrize("levels", [100, 1000, 100_000])
def test_json_nested_to_any_depth_is_redacted_and_stays_json(levels: int) -> None:
    redacted = redactor.json("[" * levels + f'{{"password":"{PASSWORD}"}}' + "]" * levels)
    assert PASSWORD not in redacted
    json.loads(redacted)


# Each makes a careless pattern start over at every character.
HOSTILE = [
    *("a", "-", "eyJ", "-eyJ", "sk-", "SG.", "://a:", "://a:b@", "-----BEGIN PRIVATE KEY"),
    *("token", "token:", "token: ", "token ", "--token ", "password=", "password='", "apikey"),
    *('password=\\"', "secret={", "secret={}", "cookie: required\n", "cookie:", "<token>", "\\"),
    *(
        "bearer ",
        "basic abcdefgh ",
        "Bearer \\n",
        "access_key ",
        "?sig=",
        "[",
        '{"a":',
        "ghp_",
        "_",
    ),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = "token: private key @ " + piece * (256 * 1024 // len(piece))
    started = time.perf_counter()
    redactor.text(text)
    redactor.json(dump({"password": "abc", "text": text}))
    # Linear time is well under half a second; quadratic time would be minutes.
    assert time.perf_counter() - started < 10


def plant(seed: JsonValue, tree: JsonValue, data: st.DataObject) -> JsonValue:
    """Put `seed` somewhere into a copy of `tree`."""
    root: list[JsonValue] = [copy.deepcopy(tree)]
    places: list[list[JsonValue] | JsonObject] = [root]
    for place in places:
        children = place.values() if isinstance(place, dict) else place
        places.extend(child for child in children if isinstance(child, dict | list))
    place = places[data.draw(st.integers(0, len(places) - 1))]
    if isinstance(place, dict):
        place["planted"] = seed
    else:
        place.append(seed)
    return root


def is_in(text: str, value: JsonValue) -> bool:
    return any(text in found for found in strings_of(value))


def strings_of(value: JsonValue) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            yield from item
            pending.extend(item.values())
