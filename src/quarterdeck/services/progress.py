"""Progress of a long wait, for surfaces that can show it."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

Progress = Callable[[float, float, str], Awaitable[None]]

_progress: ContextVar[Progress | None] = ContextVar("quarterdeck_progress", default=None)


def show_progress_by(progress: Progress) -> None:
    """Have the progress of the running call shown; what it is told is done, of what, in words."""
    _progress.set(progress)


async def report_progress(done: float, total: float, message: str) -> None:
    """Say how far a wait has come; nobody need listen."""
    progress = _progress.get()
    if progress is not None:
        await progress(done, total, message)
