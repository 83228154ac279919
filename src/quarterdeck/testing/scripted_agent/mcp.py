"""Just enough of an MCP client to call one tool over Streamable HTTP."""

import json
import urllib.request
from collections.abc import Iterator, Mapping
from http.client import HTTPResponse
from typing import NamedTuple

from quarterdeck.testing.scripted_agent.wire import Message

PROTOCOL_VERSION = "2025-06-18"
TIMEOUT_SECONDS = 60


class McpFailed(Exception):
    """The server could not be reached, or its answer is an error."""


class McpServer(NamedTuple):
    """A server as `session/new` names it."""

    url: str
    headers: Mapping[str, str]

    @classmethod
    def first_of(cls, servers: list[Message]) -> "McpServer | None":
        """Return the first server that is reached over HTTP."""
        for server in servers:
            if server.get("type") == "http":
                headers = {each["name"]: each["value"] for each in server.get("headers", [])}
                return cls(server["url"], headers)
        return None

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Call a tool in a session of its own and return the text of its answer."""
        try:
            session = self._open_session()
            params = {"name": tool, "arguments": arguments}
            answer, _ = self._post(_request(2, "tools/call", params), session)
        except (OSError, ValueError) as error:
            raise McpFailed(str(error)) from error
        return _text_of(_result_of(answer))

    def _open_session(self) -> Mapping[str, str]:
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "quarterdeck-scripted-agent", "version": "1"},
        }
        answer, session_id = self._post(_request(1, "initialize", params), {})
        agreed = {"MCP-Protocol-Version": _result_of(answer)["protocolVersion"]}
        session = agreed | ({"Mcp-Session-Id": session_id} if session_id else {})
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
        return session

    def _post(self, message: Message, session: Mapping[str, str]) -> tuple[Message, str | None]:
        """Send a message; return the answer to it, and the session's id if it has one."""
        request = urllib.request.Request(  # noqa: S310 - the client chose the address
            self.url,
            data=json.dumps(message).encode(),
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                **self.headers,
                **session,
            },
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310 - the same
            return _answer_in(response, message.get("id")), response.headers.get("Mcp-Session-Id")


def _request(number: int, method: str, params: Message) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _answer_in(response: HTTPResponse, request_id: object) -> Message:
    if request_id is None:
        return {}
    if response.headers.get_content_type() != "text/event-stream":
        return json.load(response)
    for data in _events(response):
        message = json.loads(data)
        if message.get("id") == request_id and "method" not in message:
            return message
    raise McpFailed("the server's stream ended without an answer")


def _events(response: HTTPResponse) -> Iterator[str]:
    """Yield the data of each event of a stream that is not empty."""
    data: list[str] = []
    for raw in response:
        line = raw.decode().rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line:
            if any(data):
                yield "\n".join(data)
            data = []


def _result_of(answer: Message) -> Message:
    if "error" in answer:
        raise McpFailed(answer["error"]["message"])
    return answer["result"]


def _text_of(result: Message) -> str:
    text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
    if result.get("isError"):
        raise McpFailed(text)
    return text
