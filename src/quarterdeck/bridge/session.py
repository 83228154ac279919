"""A client's session of the older protocols, kept alive over restarts of the daemon."""

import asyncio
import json
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from quarterdeck.bridge.events import messages_in
from quarterdeck.bridge.link import Connection, Link, Lost, NotSent
from quarterdeck.bridge.messages import Message, mapping, notification, parse, request
from quarterdeck.errors import Unavailable

SESSION_HEADER = "mcp-session-id"
# What a client set up once and expects to stay so, and the parameter that tells them apart.
LASTING = {"logging/setLevel": "", "resources/subscribe": "uri"}
LISTS = ("tools", "prompts", "resources")


class Sender(NamedTuple):
    """Where a message came from or goes to: a daemon, and the session that the headers name."""

    connection: Connection
    headers: dict[str, str]


class Question(NamedTuple):
    """What the daemon asked the client, under the id that the daemon gave it."""

    message: Message
    asker: Sender


class Session:
    """What a client and a daemon agreed on, and how to agree on it again."""

    def __init__(self, link: Link, write: Callable[[bytes], None]) -> None:
        """`write` gives the client one line."""
        self._link = link
        self._write = write
        self._opening: Message | None = None
        self._lasting: dict[tuple[str, Any], Message] = {}
        self._questions: dict[int, Question] = {}
        self._numbers = count(1)
        self._renewing = asyncio.Lock()
        self._connection: Connection | None = None
        self._id: str | None = None
        self._version: str | None = None
        self._capabilities: dict[str, Any] = {}

    @property
    def is_open(self) -> bool:
        return self._opening is not None

    def headers(self) -> dict[str, str]:
        """Return what marks a message as one of this session."""
        headers = {SESSION_HEADER: self._id, "mcp-protocol-version": self._version}
        return {name: value for name, value in headers.items() if value is not None}

    def opened(
        self, opening: Message, connection: Connection, session_id: str | None, answer: bytes
    ) -> None:
        """Note what the client's own `initialize` led to; it is kept to be sent again."""
        if "result" in json.loads(answer):
            self._opening = opening
            self._note(connection, session_id, answer)

    def remember(self, message: Message) -> None:
        """Keep what has to be set up again in a new session."""
        method, params = message.method or "", message.params
        if method in LASTING:
            self._lasting[method, params.get(LASTING[method])] = message
        elif method == "resources/unsubscribe":
            self._lasting.pop(("resources/subscribe", params.get("uri")), None)

    def numbered(self, received: Message, asker: Sender) -> bytes:
        """Return a message of the daemon's with the client's number of the question it is about.

        Each session numbers its questions from the start. To the client they are all one, and a
        late answer to the one before must not be taken for another.
        """
        if received.is_request:
            number = next(self._numbers)
            self._questions[number] = Question(received, asker)
            return received.changed(id=number)
        if received.method == "notifications/cancelled":
            asked = received.params.get("requestId")
            for number, question in self._questions.items():
                if (question.message.id, question.asker) == (asked, asker):
                    del self._questions[number]
                    return received.changed(params={**received.params, "requestId": number})
        return received.line

    def asked(self, answer: Message) -> Question | None:
        """Return what the client answers; `None` when whoever asked is gone."""
        return self._questions.pop(answer.id, None) if isinstance(answer.id, int) else None

    async def renew(self, connection: Connection, *, gone: str | None = None) -> None:
        """Have a session with this daemon; `gone` is one that it no longer knows.

        Raises:
            NotSent: the daemon went away meanwhile.
            Unavailable: it does not take the session.
        """
        async with self._renewing:
            if connection is self._connection and (gone is None or self._id != gone):
                return
            assert self._opening is not None, "only an open session can be renewed"
            try:
                await self._open_again(connection, self._opening)
            except Lost as error:
                raise NotSent from error

    async def close(self) -> None:
        """Let the daemon forget the session."""
        connection = self._connection
        if connection is not None and self._id is not None and self._link.is_living(connection):
            async with self._link.stream(connection, "DELETE", headers=self.headers()):
                pass

    async def _open_again(self, connection: Connection, opening: Message) -> None:
        self._connection = self._id = self._version = None
        await self._initialize(connection, opening)
        for message in (notification("notifications/initialized"), *self._lasting.values()):
            await self._send(connection, message)
        for number in self._questions:
            # Nobody waits for its answer any more.
            params = {"requestId": number, "reason": "The session with the daemon has ended"}
            self._write(notification("notifications/cancelled", params).line)
        self._questions.clear()

    async def _initialize(self, connection: Connection, opening: Message) -> None:
        again = request("quarterdeck-bridge", "initialize", opening.params)
        async with self._link.stream(connection, "POST", content=again.line) as response:
            session_id = response.headers.get(SESSION_HEADER)
            if response.is_error:
                raise Unavailable(
                    "The Quarterdeck daemon does not take the session",
                    details={"httpStatus": response.status_code},
                )
            async for line in messages_in(response):
                if parse(line).method is None:
                    self._note(connection, session_id, line.encode())
                    return
        raise Lost

    async def _send(self, connection: Connection, message: Message) -> None:
        is_request, method = message.is_request, message.method or ""
        again = request("quarterdeck-bridge", method, message.params) if is_request else message
        async with self._link.stream(
            connection, "POST", content=again.line, headers=self.headers()
        ) as response:
            await response.aread()

    def tell_of_changes(self) -> None:
        """Have the client look again: nobody has told it of what changed meanwhile."""
        for name in LISTS:
            if mapping(self._capabilities.get(name)).get("listChanged"):
                self._write(notification(f"notifications/{name}/list_changed").line)

    def _note(self, connection: Connection, session_id: str | None, answer: bytes) -> None:
        result = mapping(json.loads(answer).get("result"))
        self._connection, self._id = connection, session_id
        self._version = result.get("protocolVersion")
        self._capabilities = mapping(result.get("capabilities"))
