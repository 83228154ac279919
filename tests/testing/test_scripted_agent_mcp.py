"""The scripted agent uses the MCP server that its client gave it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.scripted_agents import Message, ScriptedAgent
from tests.support.servers import bearer, http_server, key_of

STORE = '/mcp memory_store {"key": "k", "value": {"answer": 42}}'


def described(url: str, secret: str) -> Message:
    """Return the entry of `mcpServers`."""
    headers = [{"name": name, "value": value} for name, value in bearer(secret).items()]
    return {"type": "http", "name": "quarterdeck", "url": f"{url}/mcp", "headers": headers}


def test_it_calls_a_tool_with_the_headers_it_was_given(
    agent: ScriptedAgent, tmp_path: Path
) -> None:
    with http_server(home=tmp_path) as (url, _):
        session = agent.new_session(tmp_path, [described(url, key_of(tmp_path))])
        result = agent.prompt(session, STORE, '/mcp memory_retrieve {"key": "k"}')
    assert result == {"stopReason": "end_turn"}
    assert '"answer":42' in agent.said.replace(" ", "")


def test_what_the_server_refuses_fails_and_the_turn_goes_on(
    agent: ScriptedAgent, tmp_path: Path
) -> None:
    with http_server(home=tmp_path) as (url, _):
        known = agent.new_session(tmp_path, [described(url, key_of(tmp_path))])
        agent.prompt(known, '/mcp memory_store {"key": "k"}')
        stranger = agent.new_session(tmp_path, [described(url, "not-a-key")])
        agent.prompt(stranger, STORE)
    states = [update["status"] for update in agent.updates("tool_call_update")]
    assert states == ["failed", "failed"]
    assert "INVALID_INPUT" in agent.said
    assert "401" in agent.said


def answer_to(request: Message) -> Message:
    text = {"type": "text", "text": f"{request['method']} done"}
    result = {"protocolVersion": "2025-06-18", "content": [text]}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


class PlainServer(BaseHTTPRequestHandler):
    """Answers every request at once, as JSON."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in request:
            self.reply(202, "application/json", "")
        else:
            self.answer(answer_to(request))

    def answer(self, answer: Message) -> None:
        self.reply(200, "application/json", json.dumps(answer))

    def reply(self, status: int, kind: str, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # a test prints nothing
        pass


class StreamingServer(PlainServer):
    """Answers in a stream in which other things come first."""

    def answer(self, answer: Message) -> None:
        notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        # One event without data, and data on several lines: both are allowed.
        data = json.dumps(answer, indent=1).replace("\n", "\ndata: ")
        stream = f"id: 1\ndata:\n\n: hello\n\ndata: {notice}\n\ndata: {data}\n\n"
        self.reply(200, "text/event-stream", stream)


@pytest.fixture(params=[PlainServer, StreamingServer])
def server_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), request.param) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_it_reads_plain_answers_and_streams(
    agent: ScriptedAgent, tmp_path: Path, server_url: str
) -> None:
    session = agent.new_session(tmp_path, [described(server_url, "unused")])
    agent.prompt(session, "/mcp anything")
    assert agent.said == "tools/call done"


def test_without_a_server_it_says_what_is_missing(agent: ScriptedAgent, session: str) -> None:
    error = agent.prompt(session, STORE)
    assert error["data"]["details"].endswith("the session has no MCP server over HTTP")


def test_arguments_must_be_an_object(agent: ScriptedAgent, tmp_path: Path) -> None:
    session = agent.new_session(tmp_path, [described("http://127.0.0.1:9", "unused")])
    error = agent.prompt(session, "/mcp memory_list [1]")
    assert error["data"]["details"].endswith("the arguments must be a JSON object")
