"""`quarterdeck mcp` as a process, spoken to line by line in either protocol era."""

import json
import queue
import subprocess
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Literal

from tests.support.servers import QUARTERDECK, environment

ANSWER_SECONDS = 40
MOMENT_SECONDS = 0.2
Era = Literal["legacy", "modern"]
ERAS: tuple[Era, ...] = ("legacy", "modern")
VERSIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
Json = dict[str, Any]
Number = int | str

CLIENT = {"name": "by hand", "version": "1"}
CAPABILITIES: Json = {"elicitation": {}}
META = {
    "io.modelcontextprotocol/protocolVersion": VERSIONS["modern"],
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
}


class Bridge:
    """A client at the other end of a bridge's pipes; what it does not wait for, it keeps."""

    def __init__(self, process: "subprocess.Popen[bytes]", era: Era) -> None:
        self.process = process
        self.era: Era = era
        self._numbers = count(1)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._kept: list[Json] = []
        self._reader = threading.Thread(target=self._read, daemon=True)

    def shake_hands(self) -> None:
        """Do what a client of the era does first."""
        if self.era == "legacy":
            self.open_session()
            self.notify("notifications/initialized")

    def open_session(self) -> Json:
        return self.ask(
            "initialize",
            protocolVersion=VERSIONS["legacy"],
            capabilities=CAPABILITIES,
            clientInfo=CLIENT,
        )

    def start_reading(self) -> None:
        self._reader.start()

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def post(self, message: Json) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def start(self, method: str, /, **params: object) -> int:
        """Send a request and return its number; `answer` waits for it."""
        number = next(self._numbers)
        self.post({"id": number, "method": method, "params": self._with_meta(params)})
        return number

    def start_tool(self, name: str, /, **arguments: object) -> int:
        return self.start("tools/call", name=name, arguments=arguments)

    def notify(self, method: str, /, **params: object) -> None:
        self.post({"method": method, "params": params})

    def answer(self, number: Number) -> Json:
        return self._next(lambda message: "method" not in message and message["id"] == number)

    def told(self, method: str) -> Json:
        """Return the parameters of the next request or notification of the server's."""
        return self.asked(method).get("params", {})

    def asked(self, method: str) -> Json:
        return self._next(lambda message: message.get("method") == method)

    def is_told(self, method: str) -> bool:
        """Wait a moment for a notification, and return whether it came."""
        try:
            self._next(lambda message: message.get("method") == method, MOMENT_SECONDS)
        except queue.Empty:
            return False
        return True

    def ask(self, method: str, /, **params: object) -> Json:
        return self.answer(self.start(method, **params))

    def result(self, number: Number) -> Json:
        """Return the result of a tool call, whether or not it succeeded."""
        result = self.answer(number)["result"]
        assert result.get("resultType") == ("complete" if self.era == "modern" else None)
        return result

    def tool(self, name: str, /, **arguments: object) -> Json:
        """Call a tool that succeeds, and return its answer."""
        result = self.result(self.start_tool(name, **arguments))
        assert result["isError"] is False, result
        return result["structuredContent"]

    def kept(self, method: str) -> list[Json]:
        """Return what came beside the messages that were waited for."""
        self._kept += [json.loads(self._lines.get()) for _ in range(self._lines.qsize())]
        return [message for message in self._kept if message.get("method") == method]

    def kept_answers(self) -> list[Json]:
        return [message for message in self._kept if "method" not in message]

    def end(self) -> tuple[int, str, list[Json]]:
        """Close its stdin; return its exit code, its stderr, and messages nobody waited for."""
        process = self.process
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.close()
        logged = process.stderr.read().decode()
        code = process.wait(ANSWER_SECONDS)
        self._reader.join(ANSWER_SECONDS)
        rest = [json.loads(self._lines.get()) for _ in range(self._lines.qsize())]
        return code, logged, self._kept + rest

    def _with_meta(self, params: Mapping[str, object]) -> Mapping[str, object]:
        return {**params, "_meta": META} if self.era == "modern" else params

    def _next(self, fits: Callable[[Json], bool], seconds: float = ANSWER_SECONDS) -> Json:
        for index, message in enumerate(self._kept):
            if fits(message):
                return self._kept.pop(index)
        while not fits(message := json.loads(self._lines.get(timeout=seconds))):
            self._kept.append(message)
        return message

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)


def error_of(result: Json) -> Json:
    """Return the error of a tool call that failed."""
    assert result["isError"] is True, result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["structuredContent"]["success"] is False
    return result["structuredContent"]["error"]


@contextmanager
def bridge(
    home: Path, era: Era, *arguments: str, environ: Mapping[str, str] | None = None
) -> Generator[Bridge]:
    """Start `quarterdeck mcp` and shake hands; it is gone afterwards, whatever happened."""
    with bare_bridge(home, era, *arguments, environ=environ) as started:
        started.start_reading()
        started.shake_hands()
        yield started


@contextmanager
def bare_bridge(
    home: Path, era: Era, *arguments: str, environ: Mapping[str, str] | None = None
) -> Generator[Bridge]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [QUARTERDECK, "mcp", *arguments],
        env={**environment(home), **(environ or {})},
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    ) as process:
        try:
            yield Bridge(process, era)
        finally:
            process.kill()
