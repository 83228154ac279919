"""Fixtures that tests of every layer share."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import PostgresServer, running_postgres

pytest_plugins = [
    "pytester",
    "tests.support.clients",
    "tests.support.schemas",
    "tests.support.skips",
    "tests.support.stores",
]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for each test process, started when the first test asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty database of the test's own."""
    with postgres_server.empty_database() as url:
        yield url
