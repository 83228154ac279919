"""What the daemon says when nobody has asked: streams that are opened again when they end."""

import asyncio
import json
import logging
from typing import Any

from quarterdeck.bridge.events import messages_in
from quarterdeck.bridge.exchange import BAD_REQUEST, Exchange, Write, refused
from quarterdeck.bridge.link import Connection, Link, Lost, NotSent
from quarterdeck.bridge.messages import (
    SUBSCRIPTION_KEY,
    Message,
    mapping,
    notification,
    parse,
    refusal,
)
from quarterdeck.bridge.session import Sender, Session
from quarterdeck.errors import QuarterdeckError

logger = logging.getLogger(__name__)

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CHANGES = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}
METHOD_NOT_ALLOWED = 405
AGAIN_SECONDS = 0.1


class Subscription:
    """A `subscriptions/listen` of the stateless protocol."""

    def __init__(self, message: Message, link: Link, exchange: Exchange, write: Write) -> None:
        self._message = message
        self._link = link
        self._exchange = exchange
        self._write = write
        self._acknowledged = False

    async def follow(self) -> None:
        """Pass on what comes until the daemon refuses it or ends it on purpose."""
        while True:
            try:
                if await self._is_over(await self._connection()):
                    return
            except (NotSent, Lost):
                await asyncio.sleep(AGAIN_SECONDS)
            except QuarterdeckError as error:
                self._write(refusal(self._message, error))
                return

    async def _connection(self) -> Connection:
        # Once the client knows that it is told, it waits, and a daemon need not be started for it.
        link = self._link
        return await (link.next_connection() if self._acknowledged else link.connection())

    async def _is_over(self, connection: Connection) -> bool:
        message = self._message
        headers = await self._exchange.headers(message, connection)
        async with self._link.stream(
            connection, "POST", content=message.line, headers=headers
        ) as response:
            if response.status_code >= BAD_REQUEST:
                self._write(await refused(message, response))
                return True
            async for line in messages_in(response):
                received = parse(line)
                if received.method is None:
                    return self._ended(received, connection)
                self._receive(received)
        raise Lost

    def _ended(self, answer: Message, connection: Connection) -> bool:
        # A daemon that stops ends its streams in good order; the next one takes them up.
        if "error" not in json.loads(answer.line) and not self._link.is_living(connection):
            raise Lost
        self._write(answer.line)
        return True

    def _receive(self, received: Message) -> None:
        if received.method != ACKNOWLEDGED or not self._acknowledged:
            self._acknowledged = self._acknowledged or received.method == ACKNOWLEDGED
            self._write(received.line)
            return
        # Of what changed while no daemon was there, nobody has told the client.
        honored = mapping(received.params.get("notifications"))
        meta = {"_meta": {SUBSCRIPTION_KEY: self._message.id}}
        for change in changes(honored, meta):
            self._write(change.line)


def changes(honored: dict[str, Any], params: dict[str, Any]) -> list[Message]:
    """Return the notifications that everything a client watches may have changed."""
    lists = [notification(method, params) for key, method in CHANGES.items() if honored.get(key)]
    uris: list[str] = honored.get("resourceSubscriptions") or []
    updated = "notifications/resources/updated"
    return [*lists, *(notification(updated, {**params, "uri": uri}) for uri in uris)]


async def follow_session(link: Link, session: Session, exchange: Exchange) -> None:
    """Pass on what the daemon says in a session of the older protocols, for as long as we live."""
    is_first = True
    while True:
        try:
            connection = await link.next_connection()
            await session.renew(connection)
            sender = Sender(connection, session.headers())
            async with link.stream(connection, "GET", headers=sender.headers) as response:
                await exchange.see_that_session_lives(sender, response)
                if response.status_code == METHOD_NOT_ALLOWED:
                    return
                if response.status_code < BAD_REQUEST:
                    if not is_first:
                        session.tell_of_changes()
                    is_first = False
                    async for line in messages_in(response):
                        exchange.receive(parse(line), sender)
        except (NotSent, Lost):
            pass
        except QuarterdeckError as error:
            logger.warning("Cannot follow the daemon: %s", error)
        await asyncio.sleep(AGAIN_SECONDS)
