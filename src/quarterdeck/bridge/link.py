"""The way to the daemon: found or started when it is needed, and again when it was lost."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2

from quarterdeck.bridge.attach import attach
from quarterdeck.daemon.address import Address, find, process_id
from quarterdeck.daemon.key import read_key
from quarterdeck.daemon.launch import Say

CONNECT_SECONDS = 5
# Shorter than the daemon keeps a connection, so that it never closes one under a request.
KEEP_ALIVE_SECONDS = 30
LOOK_EVERY_SECONDS = 0.5
# How long a daemon may be silent, and how often it is asked, when it seems to be gone.
DOUBT_SECONDS = 5
ASK_EVERY_SECONDS = 0.02
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


class NotSent(Exception):
    """The daemon was not there; nothing can have happened."""


class Lost(Exception):
    """The daemon went away; what it was asked for may have happened."""


class Connection(NamedTuple):
    """One daemon for as long as it lives."""

    address: Address
    client: httpx2.AsyncClient


class Link:
    """The daemon of a home, whichever it is at the moment."""

    def __init__(self, home: Path, environ: Mapping[str, str], path: str, say: Say) -> None:
        """`path` is where its MCP endpoint answers us; `say` tells a person of a wait."""
        self._home = home
        self._environ = environ
        self._path = path
        self._say = say
        self._current: Connection | None = None
        self._doubted: Connection | None = None
        self._attaching = asyncio.Lock()

    async def connection(self) -> Connection:
        """Return the way to the living daemon, started if need be.

        It is looked for each time: its port may belong to somebody else by now, who must not be
        sent our key.
        """
        if (current := self._living()) is not None and current is not self._doubted:
            return current
        async with self._attaching:
            if (current := self._living()) is not None and await self._answers(current):
                return current
            address = await asyncio.to_thread(attach, self._home, self._environ, self._say)
            return self.connect(address)

    async def next_connection(self) -> Connection:
        """Wait for a daemon without starting one: nobody has asked for anything."""
        while (address := find(self._home)) is None:  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(LOOK_EVERY_SECONDS)
        return self._living() or self.connect(address)

    def is_living(self, connection: Connection) -> bool:
        """Return whether the daemon at the other end is there and not about to stop."""
        return find(self._home) == connection.address

    def is_there(self, connection: Connection) -> bool:
        """Return whether the daemon at the other end still runs, though it may be stopping."""
        return process_id(self._home) == connection.address.pid

    async def _answers(self, connection: Connection) -> bool:
        """Return whether a daemon that a request could not reach is there all the same.

        One that was killed holds its lock a moment longer than its connections.
        """
        deadline = time.monotonic() + DOUBT_SECONDS
        while connection is self._doubted and time.monotonic() < deadline:
            if not self.is_living(connection):
                return False
            try:
                await connection.client.get("/healthz", timeout=DOUBT_SECONDS)
                self._doubted = None
            except httpx2.TransportError:
                await asyncio.sleep(ASK_EVERY_SECONDS)
        return True

    def _living(self) -> Connection | None:
        current = self._current
        return current if current and self.is_living(current) else None

    def connect(self, address: Address) -> Connection:
        """Use the daemon at `address` for as long as it lives."""
        if self._current and self._current.address == address:
            return self._current  # somebody else was faster
        headers = {**ACCEPT, "authorization": f"Bearer {read_key(self._home)}"}
        client = httpx2.AsyncClient(
            base_url=address.url,
            headers=headers,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(
                max_connections=None,
                max_keepalive_connections=32,
                keepalive_expiry=KEEP_ALIVE_SECONDS,
            ),
            trust_env=False,  # the environment's proxies: the daemon is on this machine
        )
        # The one before is not closed: answers that it had begun may still be read.
        self._current = Connection(address, client)
        return self._current

    @asynccontextmanager
    async def stream(
        self,
        connection: Connection,
        method: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[httpx2.Response]:
        """Send a request to the endpoint and yield the answer as it comes in."""
        try:
            async with connection.client.stream(
                method, self._path, content=content, headers=headers
            ) as response:
                yield response
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            self._doubted = connection
            raise NotSent from error
        except (httpx2.TransportError, httpx2.SSEError) as error:
            self._doubted = connection
            raise Lost from error
