"""Requests and their answers: sent again when that is safe, and answered once in any case."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx2

from quarterdeck.bridge.events import messages_in
from quarterdeck.bridge.link import Connection, Link, Lost, NotSent
from quarterdeck.bridge.messages import Message, mapping, parse, readdressed, refusal, request
from quarterdeck.bridge.session import SESSION_HEADER, Sender, Session
from quarterdeck.errors import (
    DaemonLost,
    InvalidInput,
    QuarterdeckError,
    Unavailable,
)

# How often a request is sent to daemons that turn out to be gone, before it is given up.
ATTEMPTS = 5
BAD_REQUEST, NOT_FOUND, TOO_LARGE = 400, 404, 413

Write = Callable[[bytes], None]


@dataclass(eq=False)
class Pending:
    """A request on its way: which daemon has it, and whether anybody still waits."""

    message: Message
    sent: Sender | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    is_cancelled: bool = False


class Exchange:
    """Carries a client's requests to the daemon, and what it says on the way to the client."""

    def __init__(self, link: Link, session: Session, write: Write) -> None:
        """`write` gives the client one line."""
        self._link = link
        self._session = session
        self._write = write
        self._numbers = count(1)

    async def answer(self, pending: Pending) -> None:
        """Write the answer to a request, whatever happens to the daemon meanwhile."""
        try:
            await self._answer(pending)
        except QuarterdeckError as error:
            self._finish(pending, refusal(pending.message, error))

    async def _answer(self, pending: Pending) -> None:
        is_repeated = False
        for _ in range(ATTEMPTS):
            try:
                await self._once(pending)
            except NotSent:
                continue
            except Lost:
                if is_repeated or pending.is_cancelled or not await self._is_read(pending.message):
                    raise DaemonLost from None
                is_repeated = True
            else:
                return
        raise _unreachable()

    async def _once(self, pending: Pending) -> None:
        message = pending.message
        connection = await self._link.connection()
        sender = pending.sent = Sender(connection, await self.headers(message, connection))
        if not self._link.is_living(connection):
            raise NotSent  # it began to stop while a session was opened
        async with self._link.stream(
            connection, "POST", content=message.line, headers=sender.headers
        ) as response:
            await self.see_that_session_lives(sender, response)
            pending.reached.set()
            if response.status_code >= BAD_REQUEST:
                self._finish(pending, await refused(message, response))
                return
            async for line in messages_in(response):
                received = parse(line)
                if received.method is None and received.id == message.id:
                    self._note(message, connection, response, received)
                    self._finish(pending, received.line)
                    return
                self.receive(received, sender)
        raise Lost

    def _finish(self, pending: Pending, answer: bytes) -> None:
        # The older protocols end a cancelled request on HTTP with an answer, on stdio without.
        if not pending.is_cancelled:
            self._write(answer)

    async def headers(self, message: Message, connection: Connection) -> dict[str, str]:
        """Return what goes beside a message; a session is opened anew if its daemon is gone."""
        if version := message.modern_version:
            return message.modern_headers(version)
        if message.method == "initialize" or not self._session.is_open:
            return {}
        await self._session.renew(connection)
        return self._session.headers()

    async def see_that_session_lives(self, sender: Sender, response: httpx2.Response) -> None:
        """Open a new session when the daemon does not know ours, and have the request sent again.

        It expires when nobody uses it for a while.
        """
        if response.status_code == NOT_FOUND and SESSION_HEADER in sender.headers:
            await self._session.renew(sender.connection, gone=sender.headers[SESSION_HEADER])
            raise NotSent

    def receive(self, received: Message, sender: Sender) -> None:
        """Pass on what the daemon says unasked: progress, changes, questions."""
        self._write(self._session.numbered(received, sender))

    def _note(
        self,
        message: Message,
        connection: Connection,
        response: httpx2.Response,
        answer: Message,
    ) -> None:
        if message.method == "initialize":
            self._session.opened(
                message, connection, response.headers.get(SESSION_HEADER), answer.line
            )
        elif not message.modern_version:
            self._session.remember(message)

    async def _is_read(self, message: Message) -> bool:
        """Return whether a request changes nothing; of a tool, the next daemon is asked."""
        if message.method != "tools/call":
            return True
        with suppress(QuarterdeckError):
            return message.params.get("name") in await self._reading_tools(message)
        return False

    async def _reading_tools(self, like: Message) -> set[str]:
        names: set[str] = set()
        meta = {**mapping(like.params.get("_meta"))}
        meta.pop("progressToken", None)
        params: dict[str, Any] = {"_meta": meta}
        while True:
            page = await self._ask("tools/list", params)
            for tool in page.get("tools", []):
                if mapping(tool.get("annotations")).get("readOnlyHint") is True:
                    names.add(tool["name"])
            if not page.get("nextCursor"):
                return names
            params = {**params, "cursor": page["nextCursor"]}

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request of our own, which changes nothing."""
        for _ in range(ATTEMPTS):
            # Several may be under way in one session, which tells them apart by their ids.
            message = request(f"quarterdeck-bridge-{next(self._numbers)}", method, params)
            with suppress(NotSent, Lost):
                return await self._ask_once(message)
        raise _unreachable()

    async def _ask_once(self, message: Message) -> dict[str, Any]:
        connection = await self._link.connection()
        sender = Sender(connection, await self.headers(message, connection))
        async with self._link.stream(
            connection, "POST", content=message.line, headers=sender.headers
        ) as response:
            await self.see_that_session_lives(sender, response)
            async for line in messages_in(response):
                if parse(line).method is None:
                    return mapping(json.loads(line).get("result"))
        raise Lost


async def refused(message: Message, response: httpx2.Response) -> bytes:
    """Return what HTTP's refusal of a request is to the client."""
    body = await response.aread()
    if response.status_code == TOO_LARGE:
        return refusal(message, _too_large(len(message.line)))
    return readdressed(body, message) or refusal(message, _spelled(response.status_code, body))


def _unreachable() -> Unavailable:
    return Unavailable("The Quarterdeck daemon cannot be reached", hint="run 'quarterdeck doctor'")


def _too_large(size: int) -> InvalidInput:
    return InvalidInput(
        f"The request is too large: {size} bytes",
        details={"bytes": size},
        hint="send less at once; a request may have up to 4 MiB",
    )


def _spelled(status: int, body: bytes) -> QuarterdeckError:
    """Return the error that the daemon's body tells of."""
    try:
        told = json.loads(body)["error"]
        message, details = told["message"], dict(told["details"])
        return Unavailable(message, details={**details, "httpStatus": status})
    except (ValueError, KeyError, TypeError):
        return Unavailable(
            f"The Quarterdeck daemon refused the request with HTTP status {status}",
            details={"httpStatus": status},
        )
