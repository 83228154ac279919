"""JSON-RPC messages as the bridge sees them: whom they are for, and what HTTP says beside them."""

import base64
import json
import re
from dataclasses import dataclass
from typing import Any, cast

from quarterdeck.errors import InvalidInput, QuarterdeckError

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603

# The parameter that names what a method is about; HTTP repeats it in a header.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
MOST_DIGITS = 1000
_PLAIN_HEADER = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_ENCODED_HEADER = re.compile(r"=\?base64\?.*\?=")

RequestId = int | str


@dataclass(frozen=True)
class Message:
    """One message and the line it was read from; an answer has no method."""

    line: bytes
    method: str | None
    id: RequestId | None
    params: dict[str, Any]

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.id is not None

    @property
    def modern_version(self) -> str | None:
        """Return the protocol version that the message carries; those of old sessions have none."""
        version = mapping(self.params.get("_meta")).get(VERSION_KEY)
        return version if isinstance(version, str) else None

    def modern_headers(self, version: str) -> dict[str, str]:
        """Return what the stateless protocol wants repeated in HTTP's headers."""
        headers = {
            "mcp-protocol-version": _header(version),
            "mcp-method": _header(self.method or ""),
        }
        name = self.params.get(NAMED_BY.get(self.method or "", ""))
        return {**headers, "mcp-name": _header(name)} if isinstance(name, str) else headers

    def changed(self, **parts: object) -> bytes:
        """Return the line with other parts in place of some."""
        return json.dumps({**mapping(_loaded(self.line)), **parts}, ensure_ascii=False).encode()


def parse(line: bytes | str) -> Message:
    """Read a line that `stdin_lines` has passed, or an event of the daemon's.

    Raises:
        ValueError: it is not JSON after all.
    """
    content = mapping(_loaded(line))
    method, number = content.get("method"), content.get("id")
    return Message(
        line=line.encode() if isinstance(line, str) else line,
        method=method if isinstance(method, str) else None,
        id=number if isinstance(number, int | str) and not isinstance(number, bool) else None,
        params=mapping(content.get("params")),
    )


def _loaded(line: bytes | str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        # Python refuses numbers of thousands of digits; what they are is not ours to judge.
        return json.loads(line, parse_int=_small)


def _small(digits: str) -> int | None:
    return int(digits) if len(digits) <= MOST_DIGITS else None


def request(number: RequestId, method: str, params: dict[str, Any]) -> Message:
    """Return a request of the bridge's own."""
    content = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return Message(json.dumps(content).encode(), method, number, params)


def notification(method: str, params: dict[str, Any] | None = None) -> Message:
    content = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
    return Message(json.dumps(content).encode(), method, None, params or {})


def refusal(of: Message, error: QuarterdeckError) -> bytes:
    """Return the answer to a request that could not be carried out.

    A failed tool call is a result, as it is when the daemon words it.
    """
    body = error.body()
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": of.id}
    if of.method == "tools/call":
        text = [{"type": "text", "text": json.dumps(body)}]
        result: dict[str, Any] = {"content": text, "structuredContent": body, "isError": True}
        if of.modern_version:
            result["resultType"] = "complete"
        return json.dumps({**answer, "result": result}).encode()
    code = INVALID_PARAMS if isinstance(error, InvalidInput) else INTERNAL_ERROR
    problem = {"code": code, "message": error.message, "data": body["error"]}
    return json.dumps({**answer, "error": problem}).encode()


def readdressed(body: bytes, to: Message) -> bytes | None:
    """Return an answer of HTTP's as one to the request; `None` when it is no message.

    What fails before the daemon has looked at the request does not know its id.
    """
    try:
        content = mapping(json.loads(body))
    except ValueError:
        return None
    if "jsonrpc" not in content:
        return None
    return json.dumps({**content, "id": to.id}, ensure_ascii=False).encode()


def _header(value: str) -> str:
    if _PLAIN_HEADER.fullmatch(value) and not _ENCODED_HEADER.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def mapping(value: object) -> dict[str, Any]:
    """Return an object of JSON's, or nothing in its place."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
