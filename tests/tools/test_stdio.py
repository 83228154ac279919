"""Lines as they reach the SDK: parsable, or a request to refuse them."""

import io
import json
from typing import Any

import pytest
from mcp.types import jsonrpc_message_adapter

from quarterdeck.stdin_lines import UNREADABLE, readable
from quarterdeck.tools.stdio import ReadableLines

SOUND = [
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    '{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"schön 😀 \\ud83d\\ude00"}}\n'.encode(),
    b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
]


@pytest.mark.parametrize("line", SOUND)
def test_a_sound_line_passes_unchanged(line: bytes) -> None:
    assert readable(line) == line


def test_a_deep_request_keeps_its_id_name_and_protocol_version() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    value: Any = 1
    for _ in range(300):
        value = [value]
    params = {"name": "memory_store", "arguments": {"value": value}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params}

    passed = json.loads(readable(json.dumps(message).encode()))

    assert passed["id"] == "a"
    assert passed["params"]["name"] == "memory_store"
    assert passed["params"]["_meta"] == {**meta, UNREADABLE: "is nested too deeply"}
    assert "arguments" not in passed["params"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":3,"method":"m","params":{"name":"n","_meta":{"x":"\\ud800"}}}',
        b'{"jsonrpc":"2.0","id":3,"method":"m","params":["\xff"]}',
        b'{"jsonrpc":"2.0","id":3,"method":"m","params":' + b"[" * 2000 + b"]" * 2000 + b"}",
    ],
)
def test_what_is_passed_on_instead_can_always_be_parsed(line: bytes) -> None:
    passed = readable(line)

    jsonrpc_message_adapter.validate_json(passed, by_name=False)
    assert json.loads(passed)["id"] == 3


@pytest.mark.parametrize(
    "line", [b"hello\n", b"\n", b"[" * 5000, b'{"jsonrpc":"2.0","method":"\xff"}', b"\xff", b"[1]"]
)
def test_a_line_that_nobody_waits_for_is_dropped(line: bytes) -> None:
    assert readable(line) == b""


def test_a_stream_hands_out_sound_lines_in_order_and_ends() -> None:
    source = io.BytesIO(SOUND[0] + b"junk\n" + SOUND[1])

    assert io.BufferedReader(ReadableLines(source)).read() == SOUND[0] + SOUND[1]
