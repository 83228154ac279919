"""JSON-RPC 2.0 over lines, both ways: in order, and no faster than it is dealt with."""

import asyncio
import itertools
import json
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Protocol, cast

from quarterdeck.clients.acp.errors import (
    INTERNAL_ERROR,
    TOO_MANY_REQUESTS,
    Disconnected,
    RpcError,
)
from quarterdeck.clients.acp.lines import LONGEST, ByteSource, TooLong, lines_of

logger = logging.getLogger(__name__)

Message = dict[str, Any]

# A person answers what an agent asks, so answers take their time; more at once is no question.
MOST_OPEN_REQUESTS = 64
_SHOWN = 200


class ByteSink(Protocol):
    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...


class Peer(Protocol):
    """Who deals with what the agent sends."""

    async def notified(self, method: str, params: Message) -> None:
        """Take note; nothing more is read before this returns."""
        ...

    async def requested(self, method: str, params: Message) -> Message:
        """Return the answer, or raise `RpcError`.

        It is cancelled when nobody wants the answer any more, and may still return one.
        """
        ...

    async def puzzled(self, problem: str) -> None:
        """Learn of a line that is no message."""
        ...


class _Asked:
    """A request of the agent's that is being worked on."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None
        self._is_withdrawn = False

    def begin(self) -> None:
        """Take note of the task that works on it, from inside."""
        self._task = asyncio.current_task()
        if self._is_withdrawn:
            self.withdraw()

    def withdraw(self) -> None:
        # A task that is cancelled before it has begun would never answer.
        self._is_withdrawn = True
        if self._task:
            self._task.cancel()


class Connection:
    """One connection; `serve` has to run for anything to be answered."""

    def __init__(
        self, source: ByteSource, sink: ByteSink, peer: Peer, *, longest: int = LONGEST
    ) -> None:
        self._source = source
        self._sink = sink
        self._peer = peer
        self._longest = longest
        self._ids = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Message]] = {}
        self._open: dict[object, _Asked] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._unreadable = 0
        self._is_closed = False

    async def serve(self) -> None:
        """Deal with one message after the other until the agent closes its side."""
        try:
            async for line in lines_of(self._source, longest=self._longest):
                await self._deal_with(line)
            await self._tell_unreadable()
        finally:
            self._close()

    def begin(self, method: str, params: Message) -> asyncio.Future[Message]:
        """Send a request at once, before anything that is sent later; return its answer to come."""
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            answer.set_exception(Disconnected())
            return answer
        number = next(self._ids)
        self._pending[number] = answer
        answer.add_done_callback(lambda _: self._forget(number))
        self._send({"id": number, "method": method, "params": params})
        return answer

    async def request(self, method: str, params: Message) -> Message:
        """Send a request and wait for its answer."""
        return await self.begin(method, params)

    async def notify(self, method: str, params: Message) -> None:
        """Send what has no answer."""
        if not self._is_closed:
            self._send({"method": method, "params": params})

    def withdraw(self) -> None:
        """Stop working on whatever the agent has asked for."""
        for asked in self._open.values():
            asked.withdraw()

    def _forget(self, number: int) -> None:
        answer = self._pending.pop(number)
        if not answer.cancelled():
            answer.exception()  # whoever waited may be gone, and that is no news then

    async def _deal_with(self, line: bytes | TooLong) -> None:
        message = _parsed(line)
        if message is None:
            await self._skip(line)
            return
        await self._tell_unreadable()
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            self._settle(number, message)
        elif number is None:
            await self._be_notified(method, _params(message))
        else:
            await self._be_requested(number, method, _params(message))

    def _settle(self, number: object, message: Message) -> None:
        answer = self._pending.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return  # nobody waits for it any more
        if message.get("error") is not None:
            answer.set_exception(RpcError.from_wire(message["error"]))
        else:
            result = message.get("result")
            answer.set_result(cast("Message", result) if isinstance(result, dict) else {})

    async def _be_notified(self, method: str, params: Message) -> None:
        if method == "$/cancel_request":
            if asked := self._open.get(_key(params.get("requestId"))):
                asked.withdraw()
            return
        await self._tell(self._peer.notified(method, params))

    async def _be_requested(self, number: object, method: str, params: Message) -> None:
        key = _key(number)
        if key in self._open or len(self._open) >= MOST_OPEN_REQUESTS:
            await self._refuse(number, RpcError(TOO_MANY_REQUESTS, "Too many open requests"))
            return
        # A person may answer it: meanwhile the agent goes on, and is heard.
        asked = self._open[key] = _Asked()
        task = asyncio.create_task(
            self._answer(number, asked, self._peer.requested(method, params))
        )
        self._tasks.add(task)
        task.add_done_callback(lambda _: self._open.pop(key, None))
        task.add_done_callback(self._tasks.discard)

    async def _answer(
        self, number: object, asked: _Asked, work: Coroutine[Any, Any, Message]
    ) -> None:
        asked.begin()
        try:
            self._send({"id": number, "result": await work})
            await self._sent()
        except RpcError as error:
            await self._refuse(number, error)
        except Exception:  # an agent that gets no answer waits for ever
            logger.exception("Could not answer an agent")
            await self._refuse(number, RpcError(INTERNAL_ERROR, "Internal error"))

    async def _refuse(self, number: object, error: RpcError) -> None:
        self._send({"id": number, "error": {"code": error.code, "message": error.message}})
        await self._sent()

    async def _sent(self) -> None:
        # An agent that asks without reading our answers has to wait, or they would pile up here.
        with suppress(ConnectionError):
            await self._sink.drain()

    def _send(self, message: Message) -> None:
        if self._is_closed:
            return
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
        self._sink.write(line.encode() + b"\n")

    async def _skip(self, line: bytes | TooLong) -> None:
        """Report the first of several lines that are no messages, and how many followed."""
        if isinstance(line, bytes) and not line.strip():
            return
        self._unreadable += 1
        if self._unreadable == 1:
            await self._tell(self._peer.puzzled(_description(line)))

    async def _tell_unreadable(self) -> None:
        more, self._unreadable = self._unreadable - 1, 0
        if more > 0:
            await self._tell(self._peer.puzzled(f"and {more} more of that kind"))

    async def _tell(self, telling: Coroutine[Any, Any, None]) -> None:
        try:
            await telling
        except Exception:  # the next message may fare better, and the agent must not hang
            logger.exception("Could not take note of what an agent sent")

    def _close(self) -> None:
        self._is_closed = True
        for answer in list(self._pending.values()):
            if not answer.done():
                answer.set_exception(Disconnected())
        self.withdraw()


def _parsed(line: bytes | TooLong) -> Message | None:
    if isinstance(line, TooLong):
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Message", message) if isinstance(message, dict) else None


def _params(message: Message) -> Message:
    params = message.get("params")
    return cast("Message", params) if isinstance(params, dict) else {}


def _key(number: object) -> object:
    # Ids may be of any type, and not every type can be a key.
    return number if isinstance(number, str | int) else repr(number)


def _description(line: bytes | TooLong) -> str:
    if isinstance(line, TooLong):
        return f"a line of {line.size} bytes, which is too long"
    shown = line[:_SHOWN].decode(errors="replace")
    return f"a line that is no message: {shown}{'...' if len(line) > _SHOWN else ''}"
