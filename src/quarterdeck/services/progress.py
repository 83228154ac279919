"""Progress of a long wait, for surfaces that can show it."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[float, float, str], Awaitable[None]]

_progress: ContextVar[Progress | None] = ContextVar("quarterdeck_progress", default=None)


@contextmanager
def shown_by(progress: Progress) -> Generator[None]:
    """Have the progress of what runs inside shown: what is done, of what, in words."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


async def report_progress(done: float, total: float, message: str) -> None:
    """Say how far a wait has come; nobody need listen."""
    progress = _progress.get()
    if progress is not None:
        await progress(done, total, message)
