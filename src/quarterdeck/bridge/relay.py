"""One client's messages: requests run side by side, each until it is answered or cancelled."""

import asyncio
import logging
from collections.abc import AsyncIterable, Coroutine
from contextlib import suppress
from typing import Any

from quarterdeck.bridge.exchange import Exchange, Pending, Write
from quarterdeck.bridge.link import Link, Lost, NotSent
from quarterdeck.bridge.listening import LISTEN, Subscription, follow_session
from quarterdeck.bridge.messages import Message, RequestId, parse, refusal
from quarterdeck.bridge.session import Sender, Session
from quarterdeck.errors import InternalError, InvalidInput, QuarterdeckError

logger = logging.getLogger(__name__)

INITIALIZE, INITIALIZED = "initialize", "notifications/initialized"
CANCELLED = "notifications/cancelled"
# For answers that are on their way when the client closes our stdin.
LAST_SECONDS = 1
GOODBYE_SECONDS = 0.5
REACHED_SECONDS = 1


class Relay:
    """Takes a client's messages, one after the other."""

    def __init__(self, link: Link, write: Write) -> None:
        """`write` gives the client one line."""
        self._link = link
        self._session = Session(link, write)
        self._exchange = Exchange(link, self._session, write)
        self._write = write
        self._requests: dict[RequestId, tuple[Pending, asyncio.Task[None]]] = {}
        self._others: set[asyncio.Task[None]] = set()
        self._is_following = False

    async def run(self, lines: AsyncIterable[bytes]) -> None:
        """Serve the client until its lines end, and let answers that are on their way arrive."""
        async for line in lines:
            try:
                message = parse(line)
            except ValueError:
                logger.warning("Ignored a line on stdin: it is not JSON")
            else:
                await self._take(message)
        found = self._requests.values()
        if requests := {task for pending, task in found if pending.message.method != LISTEN}:
            await asyncio.wait(requests, timeout=LAST_SECONDS)

    async def close(self) -> None:
        """Say goodbye to the daemon, which then ends what this client still waits for."""
        with suppress(NotSent, Lost, TimeoutError):
            await asyncio.wait_for(self._session.close(), GOODBYE_SECONDS)

    async def _take(self, message: Message) -> None:
        if message.is_request:
            await self._begin(message)
        elif message.method == CANCELLED:
            self._keep(self._cancel(message))
        elif message.method == INITIALIZED:
            await self._complete_session(message)
        elif message.method is not None:
            self._keep(self._tell(message))
        elif (question := self._session.asked(message)) is not None:
            answer = parse(message.changed(id=question.message.id))
            self._keep(self._tell(answer, question.asker))

    async def _begin(self, message: Message) -> None:
        assert message.id is not None, "a request has an id"
        if message.id in self._requests:
            error = InvalidInput(f"A request with the id {message.id!r} is running already")
            self._write(refusal(message, error))
            return
        pending = Pending(message)
        task = asyncio.create_task(self._until_answered(message.id, pending))
        self._requests[message.id] = pending, task
        if message.method == INITIALIZE:
            # What comes next belongs to the session, so it has to be there.
            await task

    def _work(self, pending: Pending) -> Coroutine[Any, Any, None]:
        message = pending.message
        if message.method == LISTEN and message.modern_version:
            return Subscription(message, self._link, self._exchange, self._write).follow()
        return self._exchange.answer(pending)

    async def _until_answered(self, number: RequestId, pending: Pending) -> None:
        try:
            await self._work(pending)
        except Exception:
            # Whatever it was: a client that is not answered waits for ever.
            logger.exception("Could not pass a request on")
            self._write(refusal(pending.message, InternalError()))
        finally:
            del self._requests[number]

    async def _complete_session(self, message: Message) -> None:
        # In order: the daemon refuses requests of a session that is not complete.
        await self._tell(message)
        if self._session.is_open and not self._is_following:
            self._is_following = True
            self._keep(follow_session(self._link, self._session, self._exchange))

    async def _cancel(self, message: Message) -> None:
        """Cancel a request the way its protocol has it: by closing it, or by saying so."""
        number = message.params.get("requestId")
        if not isinstance(number, int | str) or number not in self._requests:
            return
        pending, task = self._requests[number]
        pending.is_cancelled = True
        if pending.message.modern_version:
            task.cancel()
            return
        # Not before the daemon has it. Then it ends by itself, with what it has left to say.
        with suppress(TimeoutError):
            await asyncio.wait_for(pending.reached.wait(), REACHED_SECONDS)
        await self._tell(message, pending.sent)

    async def _tell(self, message: Message, to: Sender | None = None) -> None:
        """Send what has no answer; without the daemon that it is for, it has lost its meaning."""
        with suppress(NotSent, Lost, QuarterdeckError):
            if to is None:
                connection = await self._link.connection()
                to = Sender(connection, await self._exchange.headers(message, connection))
            elif not self._link.is_there(to.connection):
                return
            async with self._link.stream(
                to.connection, "POST", content=message.line, headers=to.headers
            ) as response:
                await response.aread()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)
