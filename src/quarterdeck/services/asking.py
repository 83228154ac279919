"""Asking the person at the other end of a call, where its surface can."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from quarterdeck.domain.questions import Question


class Chosen(NamedTuple):
    """What a person chose of the answers that an agent offers."""

    question_id: str
    option_id: str


class Asking(Protocol):
    """How the person is asked; a surface that uses it has seen that they may answer."""

    @property
    def brought(self) -> Chosen | None:
        """Return the answer that came with the call, to what an earlier one asked."""
        ...

    @property
    def waited(self) -> float:
        """Return the seconds that earlier calls have waited, of which this one is the rest."""
        ...

    async def ask(self, question: Question) -> str | None:
        """Return the id of the option that they choose; `None` leaves the question open."""
        ...


_asking: ContextVar[Asking | None] = ContextVar("quarterdeck_asking", default=None)


@contextmanager
def asked_through(asking: Asking | None) -> Generator[None]:
    """Have questions that come up inside asked there; `None` asks nobody."""
    token = _asking.set(asking)
    try:
        yield
    finally:
        _asking.reset(token)


def current_asking() -> Asking | None:
    """Return how the caller can be asked, if at all."""
    return _asking.get()
