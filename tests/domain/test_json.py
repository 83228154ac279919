import pytest

from quarterdeck.domain.json import (
    JsonValue,
    depth_of,
    dump,
    find_bad_text,
    has_lone_surrogate,
)

LONE = "\ud83d"
VERY_DEEP = 100_000


def nested(levels: int, innermost: JsonValue) -> JsonValue:
    value: JsonValue = innermost
    for _ in range(levels):
        value = [value]
    return value


def test_a_value_is_spelled_compactly_and_in_its_own_order() -> None:
    assert dump({"b": [1, 2.5, None], "a": "é\n"}) == '{"b":[1,2.5,null],"a":"é\\n"}'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_cannot_say_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump([number])


DEPTHS: list[tuple[JsonValue, int]] = [
    (None, 0),
    ("text", 0),
    ({}, 1),
    ([], 1),
    ([1, {"a": 2}], 2),
    ({"a": 1, "b": {"c": [[]]}, "d": [2]}, 4),
]


@pytest.mark.parametrize(("value", "depth"), DEPTHS)
def test_depth_counts_the_containers_around_the_innermost_value(
    value: JsonValue, depth: int
) -> None:
    assert depth_of(value, 10) == depth


@pytest.mark.parametrize(("levels", "depth"), [(9, 9), (10, 10), (11, 11), (VERY_DEEP, 11)])
def test_depth_stops_counting_just_past_the_limit(levels: int, depth: int) -> None:
    assert depth_of(nested(levels, 1), 10) == depth


@pytest.mark.parametrize("text", ["", "plain", "é", "\U0001f6a2", "with \x00 inside"])
def test_text_that_utf8_can_write_has_no_lone_surrogate(text: str) -> None:
    assert not has_lone_surrogate(text)


@pytest.mark.parametrize("text", [LONE, f"before {LONE} after", f"é{LONE}", "\udc00\ud800"])
def test_half_a_surrogate_pair_is_noticed(text: str) -> None:
    assert has_lone_surrogate(text)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (LONE, "$"),
        ({"tags": ["fine", "é", LONE]}, "$.tags[2]"),
        ({"two words": {"x": LONE}}, '$["two words"].x'),
        ({"a": {LONE: 1}}, r'$.a["\ud83d"]'),
        ([{"a": [1, LONE]}, LONE], "$[0].a[1]"),
        ({"a": [[LONE]], LONE: 1}, "$.a[0][0]"),
    ],
)
def test_the_path_of_the_first_bad_text_is_named(value: JsonValue, path: str) -> None:
    assert find_bad_text(value) == path


def test_good_text_has_no_bad_path_and_nul_is_good_text() -> None:
    assert find_bad_text({"a": ["é", "\x00", None, True, 1.5, {"b": {}}]}) is None


def test_bad_text_is_found_at_any_depth() -> None:
    path = find_bad_text(nested(VERY_DEEP, LONE))
    assert path == "$" + "[0]" * VERY_DEEP
