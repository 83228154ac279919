"""A client's session of the older protocols, kept alive over restarts of the daemon."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from quarterdeck.bridge.events import messages_in
from quarterdeck.bridge.link import Connection, Link, Lost, NotSent
from quarterdeck.bridge.messages import Message, RequestId, mapping, notification, parse, request

SESSION_HEADER = "mcp-session-id"
# What a client set up once and expects to stay so, and the parameter that tells them apart.
LASTING = {"logging/setLevel": "", "resources/subscribe": "uri"}
LISTS = ("tools", "prompts", "resources")


class Session:
    """What a client and a daemon agreed on, and how to agree on it again."""

    def __init__(self, link: Link, write: Callable[[bytes], None]) -> None:
        """`write` gives the client one line."""
        self._link = link
        self._write = write
        self._opening: Message | None = None
        self._lasting: dict[tuple[str, Any], Message] = {}
        self._questions: set[RequestId] = set()
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
        self._opening = opening
        self._note(connection, session_id, answer)

    def remember(self, message: Message) -> None:
        """Keep what has to be set up again in a new session."""
        method, params = message.method or "", message.params
        if method in LASTING:
            self._lasting[method, params.get(LASTING[method])] = message
        elif method == "resources/unsubscribe":
            self._lasting.pop(("resources/subscribe", params.get("uri")), None)

    def note_question(self, message: Message) -> None:
        """Note that the daemon asked the client something."""
        if message.id is not None:
            self._questions.add(message.id)

    def takes_answer(self, message: Message) -> bool:
        """Return whether the daemon of this session waits for an answer of the client's.

        A daemon numbers its questions from the start: an answer to the one before it could be
        taken for another.
        """
        is_awaited = message.id in self._questions
        self._questions.discard(message.id or "")
        return is_awaited

    async def renew(self, connection: Connection, *, gone: str | None = None) -> None:
        """Have a session with this daemon; `gone` is one that it no longer knows.

        Raises:
            NotSent: the daemon went away meanwhile.
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
        is_other_daemon = connection is not self._connection
        self._connection = self._id = self._version = None
        await self._initialize(connection, opening)
        for message in (notification("notifications/initialized"), *self._lasting.values()):
            await self._send(connection, message)
        for number in self._questions:
            params = {"requestId": number, "reason": "The session with the daemon has ended"}
            self._write(notification("notifications/cancelled", params).line)
        self._questions.clear()
        if is_other_daemon:
            self._tell_of_changes()

    async def _initialize(self, connection: Connection, opening: Message) -> None:
        again = request("quarterdeck-bridge", "initialize", opening.params)
        async with self._link.stream(connection, "POST", content=again.line) as response:
            session_id = response.headers.get(SESSION_HEADER)
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

    def _tell_of_changes(self) -> None:
        """Have the client look again: another daemon may offer other things."""
        for name in LISTS:
            if mapping(self._capabilities.get(name)).get("listChanged"):
                self._write(notification(f"notifications/{name}/list_changed").line)

    def _note(self, connection: Connection, session_id: str | None, answer: bytes) -> None:
        result = mapping(json.loads(answer).get("result"))
        self._connection, self._id = connection, session_id
        self._version = result.get("protocolVersion")
        self._capabilities = mapping(result.get("capabilities"))
