"""The scripted agent as a process, spoken to message by message."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "quarterdeck.testing.scripted_agent"]
ANSWER_SECONDS = 20

Message = dict[str, Any]


class AgentGone(Exception):
    """The agent's output ended."""


class ScriptedAgent:
    """A client of one agent; `messages` is everything the agent sent, in order."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.messages: list[Message] = []
        self.replies: dict[str, Message] = {}
        self._sent = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with suppress(ValueError):  # closed by the test's end
            for line in self.process.stdout:
                self._lines.put(line)
        self._lines.put(b"")

    def send(self, message: Message | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Message:
        """Return the agent's next message, after answering it if the test said how."""
        line = self._lines.get(timeout=ANSWER_SECONDS)
        if not line:
            raise AgentGone
        message: Message = json.loads(line)
        self.messages.append(message)
        if message.get("method") in self.replies:
            reply = self.replies[message["method"]]
            self.send({"jsonrpc": "2.0", "id": message["id"], **reply})
        return message

    def until(self, wanted: Callable[[Message], bool]) -> Message:
        """Read on until a message that is wanted."""
        while not wanted(message := self.receive()):
            pass
        return message

    def until_update(self, kind: str) -> Message:
        """Read on until an update of a kind, and return it."""
        return self.until(lambda message: kind_of(message) == kind)["params"]["update"]

    def begin(self, method: str, **params: object) -> int:
        """Send a request and return its number."""
        self._sent += 1
        self.send({"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params})
        return self._sent

    def answer_to(self, number: int) -> Message:
        """Read on until the answer to a request."""
        return self.until(lambda message: message.get("id") == number and "method" not in message)

    def call(self, method: str, **params: object) -> Message:
        """Send a request and return its result or its error."""
        answer = self.answer_to(self.begin(method, **params))
        return answer["result"] if "result" in answer else answer["error"]

    def new_session(self, folder: Path, mcp_servers: list[Message] | None = None) -> str:
        created = self.call("session/new", cwd=str(folder), mcpServers=mcp_servers or [])
        return created["sessionId"]

    def begin_prompt(self, session: str, *lines: str) -> int:
        text = {"type": "text", "text": "\n".join(lines)}
        return self.begin("session/prompt", sessionId=session, prompt=[text])

    def prompt(self, session: str, *lines: str) -> Message:
        """Let the agent work; return the turn's result or error."""
        answer = self.answer_to(self.begin_prompt(session, *lines))
        return answer["result"] if "result" in answer else answer["error"]

    def cancel(self, session: str) -> None:
        params = {"sessionId": session}
        self.send({"jsonrpc": "2.0", "method": "session/cancel", "params": params})

    def updates(self, kind: str) -> list[Message]:
        """Return all updates of a kind so far."""
        return [
            message["params"]["update"] for message in self.messages if kind_of(message) == kind
        ]

    @property
    def pieces(self) -> list[str]:
        return [update["content"]["text"] for update in self.updates("agent_message_chunk")]

    @property
    def said(self) -> str:
        """Everything the agent said so far."""
        return "".join(self.pieces)

    def end(self) -> int:
        """Close the agent's input and return its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(ANSWER_SECONDS)


def kind_of(message: Message) -> str | None:
    """Return the kind of an update; none if the message is something else."""
    return message.get("params", {}).get("update", {}).get("sessionUpdate")


@contextmanager
def scripted_agent(
    *flags: str, variables: Mapping[str, str] | None = None, greet: bool = True
) -> Generator[ScriptedAgent]:
    """Start an agent, greeted already unless `greet` is false; it is gone afterwards."""
    with subprocess.Popen(
        [*COMMAND, *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(variables or {})},
    ) as process:
        try:
            agent = ScriptedAgent(process)
            if greet:
                agent.call("initialize", protocolVersion=1, clientCapabilities={})
            yield agent
        finally:
            process.kill()
