"""`quarterdeck mcp --standalone`, launched as clients launch it."""

import json
import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.mcp_clients import ERAS, STDIO_CLIENTS, call_every_tool
from tests.support.servers import END_SECONDS, process, stream

Message = dict[str, Any]


def request(number: int, method: str, **params: object) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


INITIALIZE = request(
    1,
    "initialize",
    protocolVersion=ERAS["legacy"],
    capabilities={},
    clientInfo={"name": "by hand", "version": "1"},
)
INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
STORE = request(2, "tools/call", name="memory_store", arguments={"key": "k", "value": {"a": 1}})


def send(server: subprocess.Popen[str], message: Message) -> None:
    stream(server.stdin).write(json.dumps(message) + "\n")
    stream(server.stdin).flush()


def converse(server: subprocess.Popen[str], messages: Sequence[Message]) -> list[str]:
    """Send each message, wait for the answer of each request, and return all lines."""
    lines: list[str] = []
    for message in messages:
        send(server, message)
        while "id" in message and not (lines and json.loads(lines[-1]).get("id") == message["id"]):
            lines.append(stream(server.stdout).readline())
    return lines


def recorded_calls(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / "quarterdeck.db")) as connection:
        return [row[0] for row in connection.execute("SELECT workflow_id FROM traces")]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("client", STDIO_CLIENTS)
async def test_a_client_lists_and_calls_every_tool(client: str, mode: str, tmp_path: Path) -> None:
    log = tmp_path / "stderr.log"
    with anyio.fail_after(50):
        async with STDIO_CLIENTS[client](mode, tmp_path, log) as connected:
            await call_every_tool(connected)
    assert log.read_text(encoding="utf-8") == ""


def test_stdout_has_the_protocol_alone_and_the_end_of_stdin_ends_the_server(
    tmp_path: Path,
) -> None:
    with process("mcp", "--standalone", home=tmp_path) as server:
        lines = converse(server, [INITIALIZE, INITIALIZED, STORE, request(3, "tools/list")])
        rest, log = server.communicate(timeout=END_SECONDS)
        assert server.returncode == 0
    assert [json.loads(line)["id"] for line in lines] == [1, 2, 3]
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
    assert (rest, log) == ("", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_in_good_order_while_stdin_is_open(
    number: signal.Signals, tmp_path: Path
) -> None:
    with process("mcp", "--standalone", home=tmp_path) as server:
        converse(server, [INITIALIZE, INITIALIZED, STORE])
        server.send_signal(number)
        assert server.wait(END_SECONDS) == 0
        assert stream(server.stderr).read() == ""
    home = tmp_path / "quarterdeck"
    assert list((home / "run").iterdir()) == []
    assert not (home / "quarterdeck.db-wal").exists()
    assert recorded_calls(home) == ["mcp.memory_store"]


def test_options_narrow_what_is_offered(tmp_path: Path) -> None:
    with process(
        "mcp", "--standalone", "--read-only", "--toolsets", "memory", home=tmp_path
    ) as server:
        lines = converse(server, [INITIALIZE, INITIALIZED, request(2, "tools/list")])
    names = [tool["name"] for tool in json.loads(lines[-1])["result"]["tools"]]
    assert names == ["memory_retrieve", "memory_search", "memory_list"]


def test_a_server_that_cannot_start_says_why_on_stderr(tmp_path: Path) -> None:
    with process("mcp", "--toolsets", "memroy", home=tmp_path) as server:
        out, log = server.communicate(timeout=END_SECONDS)
        assert (server.returncode, out) == (2, "")
    assert log.startswith("error: ")
    assert "'memory'" in log
