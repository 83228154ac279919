"""Counting what happens, for those who watch the server from outside."""

from typing import Protocol


class Meter(Protocol):
    """Is told what happened; it is quick, keeps nothing of a call, and never fails one."""

    def call_ended(
        self, surface: str, name: str | None, error: BaseException | None, microseconds: int
    ) -> None:
        """Count a call; `name` is `None` when the caller made it up, `error` when it succeeded."""
        ...

    def trace_written(self) -> None:
        """Count a trace that has been committed."""
        ...


class NoMeter:
    """Implements `Meter` where nobody watches."""

    def call_ended(
        self, surface: str, name: str | None, error: BaseException | None, microseconds: int
    ) -> None:
        """Count nothing."""

    def trace_written(self) -> None:
        """Count nothing."""
