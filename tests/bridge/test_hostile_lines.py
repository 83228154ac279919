"""What no client should send comes to the same end as without a bridge."""

import json
from collections.abc import Iterator

import pytest

from tests.bridge.conftest import joining
from tests.support.bridges import CLIENT, ERAS, META, Bridge, Era, Number, error_of
from tests.support.hostile_lines import HOSTILE, NO_REQUESTS
from tests.support.workshop_daemons import end_daemons

pytestmark = pytest.mark.xdist_group("bridge-1")

VERSION = "io.modelcontextprotocol/protocolVersion"


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Era, Bridge]]:
    """One client of each era, for all tests: it outlives everything that it sends."""
    home = tmp_path_factory.mktemp("hostile")
    with joining(home) as start:
        joined: dict[Era, Bridge] = {era: start(era) for era in ERAS}
        yield joined
        for client in joined.values():
            code, logged, _ = client.end()
            assert code == 0
            assert "Traceback" not in logged
    end_daemons(home)


@pytest.fixture
def client(clients: dict[Era, Bridge], era: Era) -> Bridge:
    return clients[era]


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_call_is_refused_clearly(client: Bridge, line: bytes) -> None:
    client.send(in_era(client.era, line))
    answer = client.answer(7)
    assert len(str(answer)) < 2000
    if "error" in answer:
        # Too deep for anybody to find out what protocol it is in.
        assert client.era == "modern"
        assert line.count(b"{") > 5000
    else:
        assert error_of(answer["result"])["code"] == "INVALID_INPUT"
    assert lives(client)


@pytest.mark.parametrize("line", NO_REQUESTS)
def test_a_line_that_is_no_request_is_passed_over(client: Bridge, line: bytes) -> None:
    client.send(line)
    assert lives(client)
    assert client.kept_answers() == []


@pytest.mark.parametrize("params", [{"name": "memory_store", "arguments": [1]}, {"arguments": {}}])
def test_a_malformed_request_gets_a_protocol_error(
    client: Bridge, params: dict[str, object]
) -> None:
    assert client.ask("tools/call", **params)["error"]["code"] == -32602
    assert lives(client)


@pytest.mark.parametrize("method", ["nonsense", "nonsense/é", "a\r\nb: c", ""])
def test_an_unknown_method_gets_a_protocol_error(client: Bridge, method: str) -> None:
    assert client.ask(method)["error"]["code"] in {-32601, -32020}
    assert lives(client)


@pytest.mark.parametrize(
    "name",
    ["nonsense", "é\u2028", "a\r\nb: c", "=?base64?eA==?=", pytest.param("x" * 99_999, id="long")],
)
def test_a_tool_of_any_name_is_looked_for(client: Bridge, name: str) -> None:
    assert error_of(client.result(client.start_tool(name)))["code"] == "NOT_FOUND"
    assert lives(client)


@pytest.mark.parametrize("version", ["2099-01-01", "", "é", "1\r\nX-Evil: 1", 5, None])
def test_another_protocol_version_is_refused(
    clients: dict[Era, Bridge], version: str | int | None
) -> None:
    client = clients["modern"]
    meta = {**META, VERSION: version}
    client.post({"id": "odd", "method": "tools/list", "params": {"_meta": meta}})
    answer = client.answer("odd")
    assert answer["error"]["code"] in {-32022, -32020, -32600}
    assert lives(client)


def test_a_session_survives_a_second_opening_that_fails(clients: dict[Era, Bridge]) -> None:
    client = clients["legacy"]
    assert client.ask("initialize", clientInfo=CLIENT)["error"]["code"] == -32602
    assert lives(client)


@pytest.mark.parametrize("number", [0, -1, 2**60, "", "seven", "7", "é\u2028"])
def test_an_answer_has_the_id_of_its_request(client: Bridge, number: Number) -> None:
    for _ in range(2):  # an id may be used again, once it was answered
        client.post({"id": number, "method": "tools/list", "params": in_meta(client.era)})
        assert "tools" in client.answer(number)["result"]


def test_a_request_without_params_is_answered(clients: dict[Era, Bridge]) -> None:
    clients["legacy"].post({"id": "bare", "method": "tools/list"})
    assert "tools" in clients["legacy"].answer("bare")["result"]
    clients["modern"].post({"id": "bare", "method": "tools/list"})
    assert clients["modern"].answer("bare")["error"]["code"] == -32600


def test_a_number_that_python_does_not_read_is_refused(client: Bridge) -> None:
    call = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_store",'
    line = call + b'"arguments":{"key":"k","value":{"n":' + b"1" * 5000 + b"}}}}"
    client.send(in_era(client.era, line))
    assert client.answer(7)["error"]["code"] == -32700
    assert lives(client)


def test_a_message_over_the_limit_of_http_is_refused_with_its_size(client: Bridge) -> None:
    refused = client.ask("tools/list", cursor="x" * 5_000_000)["error"]
    assert refused["code"] == -32602
    assert refused["data"]["details"]["bytes"] > 5_000_000
    assert "4 MiB" in refused["data"]["details"]["hint"]


def lives(client: Bridge) -> bool:
    return client.tool("memory_retrieve", key="nothing here")["found"] is False


def in_meta(era: Era) -> dict[str, object]:
    return {"_meta": META} if era == "modern" else {}


def in_era(era: Era, line: bytes) -> bytes:
    meta = json.dumps({"_meta": META})[1:-1].encode() + b","
    return line.replace(b'"params":{', b'"params":{' + meta) if era == "modern" else line
