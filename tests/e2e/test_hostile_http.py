"""What arrives at a real HTTP endpoint that no client should send: a clear answer, and it lives."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.support.servers import bearer, http_server, key_of

pytestmark = pytest.mark.xdist_group("hostile http")  # one server for all

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
META_JSON = json.dumps(META).encode()
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "memory_store",
}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    home = tmp_path_factory.mktemp("home")
    with http_server(home=home) as (url, _):
        headers = HEADERS | bearer(key_of(home))
        with httpx2.Client(base_url=url, headers=headers, timeout=30) as client:
            yield client


def _store(*, key: bytes = b'"k"', value: bytes = b"{}") -> bytes:
    return (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_store",'
        b'"arguments":{"key":' + key + b',"value":' + value + b'},"_meta":' + META_JSON + b"}}"
    )


def _deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def _answer(http: httpx2.Client, body: bytes) -> httpx2.Response:
    return http.post("/mcp", content=body)


REFUSED = {
    "three megabytes of key": _store(key=b'"' + b"x" * 3_000_000 + b'"'),
    "an object of 200 levels": _store(value=_deep(200)),
    "half a surrogate pair in the key": _store(key=b'"a\\ud800"'),
    "half a surrogate pair in the value": _store(value=b'{"x":"\\ud800"}'),
    "a NUL in the key": _store(key=b'"a\\u0000"'),
    "a number that is none": _store(value=b'{"x":NaN}'),
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_a_hostile_call_is_invalid_input(http: httpx2.Client, body: bytes) -> None:
    result: dict[str, Any] = _answer(http, body).json()["result"]

    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "INVALID_INPUT"
    assert _lives(http)


UNREADABLE = {
    "an object of 5000 levels": (_store(value=_deep(5000)), 400),
    "bytes that are not UTF-8": (_store(key=b'"a\xff\xfe"'), 400),
    "no JSON": (b"hello", 400),
    "ten megabytes": (_store(key=b'"' + b"x" * 10_000_000 + b'"'), 413),
}


@pytest.mark.parametrize(("body", "status"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_refused_by_its_status(
    http: httpx2.Client, body: bytes, status: int
) -> None:
    assert _answer(http, body).status_code == status
    assert _lives(http)


def _lives(http: httpx2.Client) -> bool:
    stored = _answer(http, _store())
    return stored.status_code == 200 and stored.json()["result"]["isError"] is False
