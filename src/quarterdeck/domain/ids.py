"""Ids that sort by the time they were made: UUID version 7 with microseconds (RFC 9562, 6.2).

Rows keyed by them stay together on disk, and "newest first" needs no index of its own.
"""

import os
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def new_id(at: datetime) -> str:
    """Return a fresh id of the moment `at`; ids of later microseconds sort later."""
    return _id(at, int.from_bytes(os.urandom(8), "big"))


def first_id(at: datetime) -> str:
    """Return the smallest id of the moment `at`, to compare others with."""
    return _id(at, 0)


def _id(at: datetime, randomness: int) -> str:
    milliseconds, microseconds = divmod((at - _EPOCH) // _MICROSECOND, 1000)
    # 12 bits hold the fraction of the millisecond: 1000 steps of 4.096.
    fraction = microseconds * 4096 // 1000
    high = milliseconds << 16 | 0x7000 | fraction
    low = randomness & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    text = f"{high:016x}{low:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
