import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.domain.json import JsonObject, JsonValue
from quarterdeck.domain.memory import (
    KEY_LENGTH,
    NAMESPACE_LENGTH,
    VALUE_BYTES,
    VALUE_DEPTH,
    checked_key,
    checked_namespace,
    checked_value,
    cursor_after,
    place_of,
)
from quarterdeck.errors import InvalidInput

LONE = "\ud83d"


def problem_of(refusal: pytest.ExceptionInfo[InvalidInput]) -> tuple[str, str]:
    match refusal.value.details:
        case {"fields": [{"field": str(field), "problem": str(problem)}]}:
            return field, problem
        case details:
            raise AssertionError(details)


@pytest.mark.parametrize(
    "key", ["k", "../../etc/passwd", "a b\n", "世界", "'; --", "\U0010ffff" * KEY_LENGTH, " "]
)
def test_any_text_within_the_limits_is_a_key(key: str) -> None:
    assert checked_key(key) == key


@pytest.mark.parametrize("key", ["", "k" * (KEY_LENGTH + 1), "a\x00b", f"a{LONE}"])
def test_a_key_that_cannot_be_stored_is_refused_by_name(key: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        checked_key(key)
    assert problem_of(refusal)[0] == "key"


@pytest.mark.parametrize("namespace", ["", "n" * (NAMESPACE_LENGTH + 1), "\x00", LONE])
def test_a_namespace_that_cannot_be_stored_is_refused_by_name(namespace: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        checked_namespace(namespace)
    assert problem_of(refusal)[0] == "namespace"


def text_of_size(size: int, character: str = "a") -> JsonObject:
    width = len(character.encode())
    overhead = len('{"a":""}')
    count, rest = divmod(size - overhead, width)
    return {"a": character * count + "a" * rest}


@pytest.mark.parametrize("character", ["a", "é", "世", "\U0001f6a2"])
def test_a_value_may_fill_its_limit_to_the_byte(character: str) -> None:
    text = checked_value(text_of_size(VALUE_BYTES, character))
    assert len(text.encode()) == VALUE_BYTES
    with pytest.raises(InvalidInput) as refusal:
        checked_value(text_of_size(VALUE_BYTES + 1, character))
    assert problem_of(refusal) == (
        "value",
        f"is {VALUE_BYTES + 1} bytes of JSON; the limit is {VALUE_BYTES}",
    )
    assert refusal.value.hint


def nested(levels: int) -> JsonObject:
    value: JsonValue = "innermost"
    for _ in range(levels - 1):
        value = [value]
    return {"a": value}


def test_nesting_has_a_limit() -> None:
    assert checked_value(nested(VALUE_DEPTH))
    with pytest.raises(InvalidInput) as refusal:
        checked_value(nested(VALUE_DEPTH + 1))
    assert problem_of(refusal)[0] == "value"


def test_a_value_with_half_a_character_is_refused_with_its_path() -> None:
    with pytest.raises(InvalidInput) as refusal:
        checked_value({"tags": ["fine", LONE]})
    assert problem_of(refusal)[1].endswith("$.tags[1]")


@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), 10**5000], ids=["nan", "infinite", "huge"]
)
def test_a_number_that_json_cannot_say_is_refused(number: float) -> None:
    with pytest.raises(InvalidInput) as refusal:
        checked_value({"a": [number]})
    assert problem_of(refusal)[0] == "value"


@given(place=st.integers(0, 10**18 - 1))
def test_a_cursor_leads_back_to_its_place(place: int) -> None:
    assert place_of(cursor_after(place)) == place


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "7",
        "not a cursor",
        "é",
        LONE,
        "=" * 5,
        base64.urlsafe_b64encode(b"m2:7").decode(),
        base64.urlsafe_b64encode(b"m1:").decode(),
        base64.urlsafe_b64encode(b"m1:-7").decode(),
        base64.urlsafe_b64encode(b"m1:7 or 1=1").decode(),
        base64.urlsafe_b64encode("m1:٣".encode()).decode(),
        base64.urlsafe_b64encode(b"m1:" + b"9" * 10_000).decode(),
    ],
)
def test_anything_else_is_not_a_cursor(cursor: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        place_of(cursor)
    assert problem_of(refusal)[0] == "cursor"
    assert refusal.value.hint
