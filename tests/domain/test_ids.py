import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.domain.ids import first_id, new_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

moments = st.datetimes(
    min_value=datetime(1970, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone itself
    max_value=datetime(9999, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone itself
    timezones=st.just(UTC),
)


@given(at=moments)
def test_an_id_is_a_uuid_of_version_7_that_holds_its_time(at: datetime) -> None:
    id_ = uuid.UUID(new_id(at))
    assert (id_.version, id_.variant) == (7, uuid.RFC_4122)
    assert id_.int >> 80 == (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id(NOON) for _ in range(1000)}) == 1000


@given(at=moments)
def test_an_id_of_a_later_microsecond_sorts_later(at: datetime) -> None:
    assert new_id(at) < new_id(at + MICROSECOND)


@given(at=moments)
def test_the_first_id_of_a_moment_parts_earlier_ids_from_the_others(at: datetime) -> None:
    assert new_id(at) < first_id(at + MICROSECOND) <= new_id(at + MICROSECOND)
