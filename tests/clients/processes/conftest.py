"""A keeper of the test's own, and a node that nobody else has."""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from quarterdeck.clients.processes.keeper import Keeper
from tests.support.agents import nothing_left_of


@pytest.fixture
def node() -> Iterator[str]:
    name = uuid.uuid4().hex
    with nothing_left_of(name):
        yield name


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return tmp_path / "agents"


@pytest.fixture
async def keeper(records: Path, node: str) -> AsyncIterator[Keeper]:
    async with Keeper(records, node=node) as opened:
        yield opened
