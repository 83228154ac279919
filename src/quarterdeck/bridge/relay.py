"""One client's messages: requests run side by side, each until it is answered or cancelled."""

import asyncio
from collections.abc import AsyncIterable, Coroutine
from contextlib import suppress
from typing import Any

from quarterdeck.bridge.exchange import Exchange, Write
from quarterdeck.bridge.link import Link, Lost, NotSent
from quarterdeck.bridge.listening import LISTEN, Subscription, follow_session
from quarterdeck.bridge.messages import Message, RequestId, parse
from quarterdeck.bridge.session import Session
from quarterdeck.errors import QuarterdeckError

INITIALIZED, CANCELLED = "notifications/initialized", "notifications/cancelled"
# For answers that are on their way when the client closes our stdin.
LAST_SECONDS = 1
GOODBYE_SECONDS = 0.5


class Relay:
    """Takes a client's messages, one after the other."""

    def __init__(self, link: Link, write: Write) -> None:
        """`write` gives the client one line."""
        self._link = link
        self._session = Session(link, write)
        self._exchange = Exchange(link, self._session, write)
        self._write = write
        self._requests: dict[RequestId, tuple[Message, asyncio.Task[None]]] = {}
        self._others: set[asyncio.Task[None]] = set()

    async def run(self, lines: AsyncIterable[bytes]) -> None:
        """Serve the client until its lines end."""
        async for line in lines:
            await self._take(parse(line))
        await self._finish()

    async def _take(self, message: Message) -> None:
        if message.is_request:
            self._start(message)
        elif message.method == CANCELLED:
            self._keep(self._cancel(message))
        elif message.method == INITIALIZED:
            # In order: the daemon refuses requests of a session that is not complete.
            await self._tell(message)
            self._keep(follow_session(self._link, self._session, self._exchange))
        elif message.method is not None or self._session.takes_answer(message):
            self._keep(self._tell(message))

    def _start(self, message: Message) -> None:
        assert message.id is not None, "a request has an id"
        is_subscription = message.method == LISTEN and message.modern_version
        subscription = Subscription(message, self._link, self._exchange, self._write)
        work = subscription.follow() if is_subscription else self._exchange.answer(message)
        task = asyncio.create_task(self._until_answered(message.id, work))
        self._requests[message.id] = message, task

    async def _until_answered(self, number: RequestId, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            if self._requests.get(number, (None, None))[1] is asyncio.current_task():
                del self._requests[number]

    async def _cancel(self, message: Message) -> None:
        """Cancel a request the way its protocol has it: by closing it, or by saying so."""
        found, task = self._requests.get(message.params.get("requestId", ""), (None, None))
        if found is None or task is None:
            return
        if not found.modern_version:
            await self._exchange.reached(found)
            await self._tell(message)
        task.cancel()

    async def _tell(self, message: Message) -> None:
        """Send what has no answer; without a daemon, it has lost its meaning."""
        with suppress(NotSent, Lost, QuarterdeckError):
            connection = await self._link.connection()
            headers = await self._exchange.headers(message, connection)
            async with self._link.stream(
                connection, "POST", content=message.line, headers=headers
            ) as response:
                await response.aread()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    async def _finish(self) -> None:
        """Let answers that are on their way arrive, then say goodbye."""
        requests = {task for message, task in self._requests.values() if message.method != LISTEN}
        if requests:
            await asyncio.wait(requests, timeout=LAST_SECONDS)
        with suppress(NotSent, Lost, TimeoutError):
            await asyncio.wait_for(self._session.close(), GOODBYE_SECONDS)
