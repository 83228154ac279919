"""A home, bridges to it, and a daemon with tools that wait for the test."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from tests.support.bridges import ERAS, Bridge, Era, bridge
from tests.support.workshop_daemons import Succession, end_daemons


class Join(Protocol):
    def __call__(self, era: Era, *arguments: str, **environ: str) -> Bridge: ...


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    end_daemons(tmp_path)


@pytest.fixture
def join(home: Path) -> Iterator[Join]:
    """Starts bridges of `home`."""
    with joining(home) as start:
        yield start


@pytest.fixture(scope="module")
def daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Succession]:
    """Daemons with tools that wait for the test, one after the other."""
    succession = Succession(tmp_path_factory.mktemp("home"))
    yield succession
    succession.close()


@pytest.fixture
def attach(daemons: Succession) -> Iterator[Join]:
    """Starts bridges to the daemon of the moment."""
    assert daemons.current
    with joining(daemons.home) as start:
        yield start


@contextmanager
def joining(home: Path) -> Generator[Join]:
    with ExitStack() as stack:

        def start(era: Era, *arguments: str, **environ: str) -> Bridge:
            return stack.enter_context(bridge(home, era, *arguments, environ=environ))

        yield start
