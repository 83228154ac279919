"""Time is asked for, never taken, so that tests can say what time it is."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The time of day and a stopwatch."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        ...

    def ticks_us(self) -> int:
        """Return microseconds that never run backwards; only differences mean something."""
        ...
