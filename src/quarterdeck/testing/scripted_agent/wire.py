"""Newline-delimited JSON-RPC 2.0 over a pair of streams, both ways."""

import contextlib
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

Message = dict[str, Any]
OnAnswer = Callable[[Message], None]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class RpcError(Exception):
    """The answer to a request is this error."""

    def __init__(self, code: int, message: str, details: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details

    def as_json(self) -> Message:
        """Return the error object of an answer; real agents put the useful text into `data`."""
        error: Message = {"code": self.code, "message": self.message}
        if self.details is not None:
            error["data"] = {"details": self.details}
        return error


class Wire:
    """Sends messages whole, from any thread, and hands answers to whoever asked."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.Lock()
        self._ids = itertools.count(1)
        self._asked: dict[int, OnAnswer] = {}

    def requests(self) -> Iterator[Message]:
        """Yield requests and notifications until the input ends; answers go to who asked."""
        for line in self._incoming:
            if not line.strip():
                continue
            try:
                message = _parse(line)
            except RpcError as error:
                self.fail(None, error)
                continue
            if "method" in message:
                yield message
            else:
                self._deliver(message)

    def ask(self, method: str, params: Message, on_answer: OnAnswer) -> None:
        """Send a request to the client; `on_answer` is called in the reading thread."""
        number = next(self._ids)
        self._asked[number] = on_answer
        self._send({"id": number, "method": method, "params": params})

    def notify(self, method: str, params: Message) -> None:
        """Send a message that has no answer."""
        self._send({"method": method, "params": params})

    def answer(self, request_id: object, result: Message) -> None:
        """Answer a request of the client."""
        self._send({"id": request_id, "result": result})

    def fail(self, request_id: object, error: RpcError) -> None:
        """Answer a request, or a line that was none, with an error."""
        self._send({"id": request_id, "error": error.as_json()})

    def _deliver(self, message: Message) -> None:
        on_answer = self._asked.pop(message["id"], None)
        if on_answer is not None:
            on_answer(message)

    def _send(self, message: Message) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        # A client that is gone has closed the agent's input too, and that ends the agent.
        with self._sending, contextlib.suppress(BrokenPipeError):
            self._outgoing.write(line + b"\n")
            self._outgoing.flush()


def _parse(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, "Parse error", str(error)) from error
    if not isinstance(message, dict) or not _is_message(found := cast("Message", message)):
        raise RpcError(INVALID_REQUEST, "Invalid request", "neither a request nor an answer")
    return found


def _is_message(message: Message) -> bool:
    if "method" not in message:
        return isinstance(message.get("id"), int)
    return isinstance(message["method"], str) and isinstance(message.get("params", {}), dict | None)
