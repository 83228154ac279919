"""What arrives on a real stdin that no client should send: a clear answer, and the server lives."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile_lines import HOSTILE, NO_REQUESTS
from tests.support.raw_stdio import RawStdio, raw_stdio, request, tool_call


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def server(home: Path) -> Generator[RawStdio]:
    with raw_stdio(home) as running:
        yield running
        code, logged = running.end()
        assert code == 0
        assert "Traceback" not in logged


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_call_is_refused_clearly_and_traced_once(
    server: RawStdio, home: Path, line: bytes
) -> None:
    before = _root_traces(home)
    server.send(line)

    answer = server.answer()

    assert answer["id"] == 7
    assert answer["result"]["isError"] is True
    assert answer["result"]["structuredContent"]["error"]["code"] == "INVALID_INPUT"
    assert len(str(answer)) < 2000
    assert _root_traces(home) == before + 1
    assert _lives(server)


@pytest.mark.parametrize(
    "query",
    ["'; DROP TABLE memory; --", 'a" OR "b', "NEAR(a b)", "key:*", "^a*", "\\", "%_", "(((", "-"],
)
def test_a_query_made_of_syntax_is_only_text(server: RawStdio, query: str) -> None:
    server.send(tool_call(1, "memory_search", {"query": query}))

    result = server.answer()["result"]

    assert result["isError"] is False
    assert result["structuredContent"]["query"] == query
    assert result["structuredContent"]["count"] == 0


@pytest.mark.parametrize("line", NO_REQUESTS)
def test_a_line_that_is_no_request_is_passed_over(server: RawStdio, line: bytes) -> None:
    server.send(line)
    assert _lives(server)


@pytest.mark.parametrize("params", [{"name": "memory_store", "arguments": [1]}, {"arguments": {}}])
def test_a_malformed_request_gets_a_protocol_error_and_a_trace(
    server: RawStdio, home: Path, params: dict[str, Any]
) -> None:
    before = _root_traces(home)
    server.send(request(3, "tools/call", params))

    assert server.answer()["error"]["code"] == -32602
    assert _root_traces(home) == before + 1
    assert _lives(server)


def test_a_dotenv_of_the_folder_that_a_client_works_in_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FASTMCP_LOG_LEVEL=nonsense\n", encoding="utf-8")

    with raw_stdio(tmp_path / "home", folder=tmp_path) as server:
        assert _lives(server)
        assert server.end() == (0, "")


def _lives(server: RawStdio) -> bool:
    server.send(tool_call(99, "memory_retrieve", {"key": "nothing here"}))
    answer = server.answer()
    return answer["id"] == 99 and answer["result"]["structuredContent"]["found"] is False


def _root_traces(home: Path) -> int:
    with closing(sqlite3.connect(home / "quarterdeck.db")) as database:
        counted = database.execute("SELECT count(*) FROM traces WHERE parent_id IS NULL")
        return counted.fetchone()[0]
