"""No reply of ours may break its own schema: a test in which one does fails."""

import logging
from collections.abc import Iterator

import pytest

COMPLAINT = "breaks its schema"


class Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.complaints: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if COMPLAINT in (message := record.getMessage()):
            self.complaints.append(message)


@pytest.fixture
def broken_answers() -> Iterator[list[str]]:
    """The complaints about replies; a test that asks for them may cause some."""
    listener, ours = Listener(), logging.getLogger("quarterdeck")
    ours.addHandler(listener)
    yield listener.complaints
    ours.removeHandler(listener)


@pytest.fixture(autouse=True)
def _replies_keep_their_schemas(request: pytest.FixtureRequest) -> Iterator[None]:
    if "broken_answers" in request.fixturenames:
        yield
        return
    complaints: list[str] = request.getfixturevalue("broken_answers")
    yield
    assert complaints == []
