"""Requests and their answers: sent again when that is safe, and answered once in any case."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx2

from quarterdeck.bridge.events import messages_in
from quarterdeck.bridge.link import Connection, Link, Lost, NotSent
from quarterdeck.bridge.messages import (
    Message,
    RequestId,
    mapping,
    parse,
    readdressed,
    refusal,
    request,
)
from quarterdeck.bridge.session import SESSION_HEADER, Session
from quarterdeck.errors import DaemonLost, QuarterdeckError, Unavailable

# How often a request is sent to daemons that turn out to be gone, before it is given up.
ATTEMPTS = 5
REACHED_SECONDS = 1
BAD_REQUEST, NOT_FOUND = 400, 404

Write = Callable[[bytes], None]


class Exchange:
    """Carries a client's requests to the daemon, and what it says on the way to the client."""

    def __init__(self, link: Link, session: Session, write: Write) -> None:
        """`write` gives the client one line."""
        self._link = link
        self._session = session
        self._write = write
        self._reached: dict[RequestId, asyncio.Event] = {}

    async def answer(self, message: Message) -> None:
        """Write the answer to a request, whatever happens to the daemon meanwhile."""
        assert message.id is not None, "a request has an id"
        self._reached[message.id] = asyncio.Event()
        try:
            await self._answer(message)
        except QuarterdeckError as error:
            self._write(refusal(message, error))
        finally:
            del self._reached[message.id]

    async def reached(self, message: Message) -> None:
        """Wait until the daemon has a request: a cancellation must not come before it."""
        if event := self._reached.get(message.id or ""):
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), REACHED_SECONDS)

    async def _answer(self, message: Message) -> None:
        is_repeated = False
        for _ in range(ATTEMPTS):
            try:
                await self._once(message)
            except NotSent:
                continue
            except Lost:
                if is_repeated or not await self._is_read(message):
                    raise DaemonLost from None
                is_repeated = True
            else:
                return
        raise Unavailable(
            "The Quarterdeck daemon cannot be reached", hint="run 'quarterdeck doctor'"
        )

    async def _once(self, message: Message) -> None:
        connection = await self._link.connection()
        headers = await self.headers(message, connection)
        async with self._link.stream(
            connection, "POST", content=message.line, headers=headers
        ) as response:
            await self.see_that_session_lives(connection, headers, response)
            self._reached[message.id or ""].set()
            if response.status_code >= BAD_REQUEST:
                self._write(await refused(message, response))
                return
            async for line in messages_in(response):
                received = parse(line)
                if received.method is None and received.id == message.id:
                    self._note(message, connection, response, received)
                    self._write(received.line)
                    return
                self.receive(received)
        raise Lost

    async def headers(self, message: Message, connection: Connection) -> dict[str, str]:
        """Return what goes beside a message; a session is opened anew if its daemon is gone."""
        if version := message.modern_version:
            return message.modern_headers(version)
        if message.method == "initialize" or not self._session.is_open:
            return {}
        await self._session.renew(connection)
        return self._session.headers()

    async def see_that_session_lives(
        self, connection: Connection, headers: dict[str, str], response: httpx2.Response
    ) -> None:
        """Open a new session when the daemon does not know ours, and have the request sent again.

        It expires when nobody uses it for a while.
        """
        if response.status_code == NOT_FOUND and SESSION_HEADER in headers:
            await self._session.renew(connection, gone=headers[SESSION_HEADER])
            raise NotSent

    def receive(self, received: Message) -> None:
        """Pass on what the daemon says unasked: progress, changes, questions."""
        if received.is_request:
            self._session.note_question(received)
        self._write(received.line)

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
        with suppress(NotSent, Lost, QuarterdeckError):
            return message.params.get("name") in await self._reading_tools(message)
        return False

    async def _reading_tools(self, like: Message) -> set[str]:
        names: set[str] = set()
        meta = {**mapping(like.params.get("_meta"))}
        meta.pop("progressToken", None)
        params: dict[str, Any] = {"_meta": meta}
        while True:
            page = await self._ask(request("quarterdeck-bridge", "tools/list", params))
            for tool in page.get("tools", []):
                if mapping(tool.get("annotations")).get("readOnlyHint") is True:
                    names.add(tool["name"])
            if not page.get("nextCursor"):
                return names
            params = {**params, "cursor": page["nextCursor"]}

    async def _ask(self, message: Message) -> dict[str, Any]:
        connection = await self._link.connection()
        headers = await self.headers(message, connection)
        async with self._link.stream(
            connection, "POST", content=message.line, headers=headers
        ) as response:
            async for line in messages_in(response):
                if parse(line).method is None:
                    return mapping(json.loads(line).get("result"))
        raise Lost


async def refused(message: Message, response: httpx2.Response) -> bytes:
    """Return what HTTP's refusal of a request is to the client."""
    body = await response.aread()
    return readdressed(body, message) or refusal(message, _spelled(response.status_code, body))


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
