"""A home for each test, and the promise that no daemon of any of them stays."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from quarterdeck.daemon.address import is_alive
from tests.support.daemons import deck_home, living_daemons
from tests.support.servers import END_SECONDS


@pytest.fixture(scope="session")
def homes() -> Iterator[list[Path]]:
    """Every home that a test was given; in the end, nothing runs in any of them."""
    made: list[Path] = []
    yield made
    assert [home for home in made if is_alive(deck_home(home)) or living_daemons(home)] == []


@pytest.fixture
def home(homes: list[Path], tmp_path: Path) -> Iterator[Path]:
    homes.append(tmp_path)
    yield tmp_path
    left = living_daemons(tmp_path)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, END_SECONDS)
