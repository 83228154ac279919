from datetime import UTC, datetime, timedelta

import pytest

from quarterdeck.domain.access import ONLY_READ
from quarterdeck.domain.tokens import Token, checked_token_name, lifetime
from quarterdeck.errors import InvalidInput

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "life"),
    [
        ("1m", timedelta(minutes=1)),
        ("36h", timedelta(hours=36)),
        ("30d", timedelta(days=30)),
        ("2w", timedelta(weeks=2)),
        ("3650d", timedelta(days=3650)),
        ("never", None),
    ],
)
def test_a_lifetime_is_a_number_and_a_unit_or_never(text: str, life: timedelta | None) -> None:
    assert lifetime(text) == life


@pytest.mark.parametrize(
    "text", ["", "0d", "-1d", "30", "d", "30 d", "1.5h", "30D", "1y", "Never", "3651d", "9999999w"]
)
def test_any_other_lifetime_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        lifetime(text)
    assert refusal.value.hint


@pytest.mark.parametrize("name", ["ci", "laptop-2", "a", "A.b_c-9", "x" * 64])
def test_a_name_is_a_plain_word(name: str) -> None:
    checked_token_name(name)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "-a", ".a", "a/b", "ü", "a\x00", "x" * 65, "qd_name"]
)
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        checked_token_name(name)


@pytest.mark.parametrize(
    ("expires", "revoked", "state"),
    [
        (None, None, "active"),
        (NOON + HOUR, None, "active"),
        (NOON, None, "expired"),
        (None, NOON - HOUR, "revoked"),
        (NOON + HOUR, NOON - HOUR, "revoked"),
        (NOON, NOON - HOUR, "revoked"),
        (NOON - HOUR, NOON, "expired"),
    ],
)
def test_a_token_ends_by_what_comes_first(
    expires: datetime | None, revoked: datetime | None, state: str
) -> None:
    token = Token("1", "ci", "hash", ONLY_READ, NOON, expires, revoked)
    assert token.state(NOON) == state
