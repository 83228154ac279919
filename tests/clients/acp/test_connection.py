import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest

from quarterdeck.clients.acp.connection import MOST_OPEN_REQUESTS, Connection, Message
from quarterdeck.clients.acp.errors import Disconnected, RpcError


class Sink:
    """Keeps what was written."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._changed = anyio.Event()

    def write(self, data: bytes) -> None:
        self.messages += [json.loads(line) for line in data.splitlines()]
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def drain(self) -> None:
        return

    async def until(self, count: int) -> list[dict[str, Any]]:
        with anyio.fail_after(5):
            while len(self.messages) < count:
                await self._changed.wait()
        return self.messages


class Peer:
    """Notes what it is told; requests wait until they may be answered."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.may_hear = anyio.Event()
        self.may_hear.set()
        self.may_answer = anyio.Event()
        self.withdrawn = 0

    async def notified(self, method: str, params: Message) -> None:
        if method == "bad":
            raise ValueError("a fault of ours")
        await self.may_hear.wait()
        self.told.append(f"{method} {params.get('n')}")

    async def requested(self, method: str, params: Message) -> Message:
        if method == "unknown":
            raise RpcError(-32601, "Method not found")
        if method == "bad":
            raise ValueError("a fault of ours")
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.withdrawn += 1
            return {"answer": "withdrawn"}
        return {"answer": params.get("n")}

    async def puzzled(self, problem: str) -> None:
        self.told.append(problem)


class Agent:
    """The other side of a connection."""

    def __init__(self) -> None:
        self.source = asyncio.StreamReader()
        self.sink = Sink()
        self.peer = Peer()
        self.connection = Connection(self.source, self.sink, self.peer, longest=1000)

    def send(self, **message: object) -> None:
        self.source.feed_data(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, text: bytes) -> None:
        self.source.feed_data(text)

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator["asyncio.Task[None]"]:
        serving = asyncio.create_task(self.connection.serve())
        yield serving
        self.source.feed_eof()
        with suppress(asyncio.CancelledError):
            await serving


@pytest.fixture
async def agent() -> Agent:
    return Agent()


async def test_messages_are_dealt_with_in_order(agent: Agent) -> None:
    async with agent.serving():
        answer = agent.connection.begin("ask", {})
        for number in range(50):
            agent.send(method="tell", params={"n": number})
        agent.send(id=1, result={"done": True})
        assert await answer == {"done": True}
        # All that came before the answer was heard before the answer was known.
        assert agent.peer.told == [f"tell {number}" for number in range(50)]


async def test_nothing_more_is_read_while_a_message_is_dealt_with(agent: Agent) -> None:
    agent.peer.may_hear = anyio.Event()
    async with agent.serving():
        first = agent.connection.begin("ask", {})
        agent.send(method="tell", params={"n": 1})
        agent.send(id=1, result={})
        for _ in range(20):
            await asyncio.sleep(0)
        assert not first.done()
        agent.peer.may_hear.set()
        assert await first == {}


async def test_a_request_of_the_agent_does_not_hold_up_what_comes_after_it(agent: Agent) -> None:
    async with agent.serving():
        agent.send(id="q1", method="ask", params={"n": 7})
        agent.send(id=1, result={})
        await agent.connection.request("ask", {})
        agent.peer.may_answer.set()
        messages = await agent.sink.until(2)
        assert messages[-1] == {"jsonrpc": "2.0", "id": "q1", "result": {"answer": 7}}


async def test_a_request_is_withdrawn_by_us_or_by_the_agent(agent: Agent) -> None:
    async with agent.serving():
        agent.send(id="q1", method="ask")
        agent.send(id=2, method="ask")
        agent.send(method="$/cancel_request", params={"requestId": "q1"})
        (first,) = await agent.sink.until(1)
        assert first["id"] == "q1"
        agent.connection.withdraw()
        assert (await agent.sink.until(2))[1]["id"] == 2
        assert agent.peer.withdrawn == 2


async def test_what_cannot_be_answered_is_refused(agent: Agent) -> None:
    async with agent.serving():
        agent.send(id=1, method="unknown")
        agent.send(id=2, method="bad")
        codes = {m["id"]: m["error"]["code"] for m in await agent.sink.until(2)}
        assert codes == {1: -32601, 2: -32603}


async def test_too_many_open_requests_are_refused(agent: Agent) -> None:
    async with agent.serving():
        for number in range(MOST_OPEN_REQUESTS + 1):
            agent.send(id=number, method="ask")
        (refused,) = await agent.sink.until(1)
        assert refused["id"] == MOST_OPEN_REQUESTS
        assert "error" in refused


async def test_a_fault_in_dealing_with_a_message_does_not_end_the_connection(
    agent: Agent,
) -> None:
    async with agent.serving():
        agent.send(method="bad")
        agent.send(method="tell", params={"n": 1})
        agent.send(id=1, result={})
        await agent.connection.request("ask", {})
        assert agent.peer.told == ["tell 1"]


async def test_lines_that_are_no_messages_are_told_of_once_and_counted(agent: Agent) -> None:
    async with agent.serving():
        agent.write(b"Welcome!\n\n[1, 2]\n" + b"[" * 900 + b"\n" + b"x" * 2000 + b"\n")
        agent.send(method="tell", params={"n": 1})
        agent.write(b"x" * 2000 + b"\n")
        agent.send(id=1, result={})
        await agent.connection.request("ask", {})
    assert agent.peer.told == [
        "a line that is no message: Welcome!",
        "and 3 more of that kind",
        "tell 1",
        "a line of 2000 bytes, which is too long",
    ]


async def test_an_error_keeps_the_agents_own_words(agent: Agent) -> None:
    async with agent.serving():
        error = {"code": -32603, "message": "Internal error", "data": {"details": "no key"}}
        agent.send(id=1, error=error)
        with pytest.raises(RpcError) as caught:
            await agent.connection.request("ask", {})
        assert caught.value.words == "Internal error: no key"


async def test_odd_answers_harm_nobody(agent: Agent) -> None:
    async with agent.serving():
        answer = agent.connection.begin("ask", {})
        agent.send(id=99, result={})
        agent.send(id=[1], result={})
        agent.send(id=None, error="what?")
        agent.send(id=1, error="gone wrong")
        with pytest.raises(RpcError, match="gone wrong"):
            await answer


async def test_who_waits_learns_that_the_agent_is_gone(agent: Agent) -> None:
    async with agent.serving():
        agent.send(id="q1", method="ask")
        answer = agent.connection.begin("ask", {})
        agent.source.feed_eof()
        with pytest.raises(Disconnected):
            await answer
        with pytest.raises(Disconnected):
            await agent.connection.request("ask", {})
    await asyncio.sleep(0)
    assert agent.peer.withdrawn == 1
    assert len(agent.sink.messages) == 1
