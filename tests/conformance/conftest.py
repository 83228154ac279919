"""One server for all conformance tests, as a process of its own."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.checks import Baseline
from tests.support.servers import END_SECONDS, http_server, stream


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with http_server(home=tmp_path_factory.mktemp("conformance-home")) as (url, server):
        yield f"{url}/mcp"
        server.send_signal(signal.SIGTERM)
        assert server.wait(END_SECONDS) == 0
        # Nothing that a client sends, well-formed or not, is worth a line in the log.
        assert stream(server.stderr).read() == ""


@pytest.fixture(scope="session")
def baseline() -> Baseline:
    return Baseline.read(Path(__file__).with_name("baseline.yaml"))
