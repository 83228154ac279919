"""One server for all conformance tests, as a process of its own."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.checks import Baseline
from tests.support.forwarder import forwarded
from tests.support.servers import END_SECONDS, bearer, http_server, key_of, stream


@pytest.fixture(scope="session")
def conformance_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conformance-home")


@pytest.fixture(scope="session")
def authorization(endpoint: str, conformance_home: Path) -> str:
    assert endpoint
    return bearer(key_of(conformance_home))["Authorization"]


@pytest.fixture(scope="session")
def open_endpoint(endpoint: str, authorization: str) -> Iterator[str]:
    """The same for clients that cannot be told to send a header."""
    with forwarded(endpoint, "Authorization", authorization) as url:
        yield f"{url}/mcp"


@pytest.fixture(scope="session")
def endpoint(conformance_home: Path) -> Iterator[str]:
    with http_server(home=conformance_home) as (url, server):
        yield f"{url}/mcp"
        server.send_signal(signal.SIGTERM)
        assert server.wait(END_SECONDS) == 0
        # Nothing that a client sends, well-formed or not, is worth a line in the log.
        assert stream(server.stderr).read() == ""


@pytest.fixture(scope="session")
def baseline() -> Baseline:
    return Baseline.read(Path(__file__).with_name("baseline.yaml"))
