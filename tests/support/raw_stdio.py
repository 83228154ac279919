"""A client that writes bytes: what no well-behaved MCP client would send."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ANSWER_SECONDS = 20


class RawStdio:
    """`quarterdeck mcp --standalone` as a process, spoken to line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return the next message of the server."""
        return json.loads(self._lines.get(timeout=ANSWER_SECONDS))

    def shake_hands(self) -> None:
        client = {"name": "raw", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.send(request(0, "initialize", hello))
        assert self.answer()["id"] == 0
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def end(self) -> tuple[int, str]:
        """Close the server's input; return its exit code and what it logged."""
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self._process.stdin.close()
        logged = self._process.stderr.read().decode()
        return self._process.wait(ANSWER_SECONDS), logged


def request(number: int, method: str, params: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode()


def tool_call(number: int, tool: str, arguments: object) -> bytes:
    return request(number, "tools/call", {"name": tool, "arguments": arguments})


@contextmanager
def raw_stdio(
    home: Path,
    settings: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
    standalone: bool = True,
) -> Generator[RawStdio]:
    """Start a server of its own home, in `folder`; end it on the way out, whatever happened.

    One that is not `standalone` starts a daemon, which the caller has to end.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "quarterdeck", "mcp", *(["--standalone"] if standalone else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "QUARTERDECK_HOME": str(home), **(settings or {})},
    )
    try:
        server = RawStdio(process)
        server.shake_hands()
        yield server
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()
