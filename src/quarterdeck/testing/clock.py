"""Time for tests: it stands still until somebody asks or says otherwise."""

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FixedClock:
    """Implements `Clock`. Each look at it takes `step`, so that what comes later sorts later."""

    def __init__(self, at: datetime = NOON, *, step: timedelta = timedelta(milliseconds=1)) -> None:
        """Start at `at`; with a `step` of zero time moves only by `advance`."""
        self._at = at
        self._step = step

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        self._at += self._step
        return self._at

    def ticks_us(self) -> int:
        """Return the microseconds since 1970; looking at the stopwatch takes no time."""
        return (self._at - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self._at += by
