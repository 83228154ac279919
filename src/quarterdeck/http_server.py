"""An HTTP server that finishes what it has begun: uvicorn, with our own way to stop."""

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from ipaddress import ip_address

import uvicorn
from starlette.applications import Starlette

from quarterdeck.errors import Unavailable

# Time for answers to be written, once the calls behind them have ended.
GRACE_SECONDS = 0.1
# Who looked for us just before we said that we stop may be about to send a request.
NOTICE_SECONDS = 0.3
LOOK_EVERY_SECONDS = 0.1
# What is still running after all that is cancelled.
END_SECONDS = 2
# Clients let go of a connection well before, so none sends a request into one that we close.
KEEP_ALIVE_SECONDS = 60
BACKLOG = 2048


class HttpServer(uvicorn.Server):
    """Uvicorn that leaves signals to us: it would end the process before the store is closed."""

    def __init__(
        self, app: Starlette, *, drained: Callable[[], Awaitable[None]], drain_seconds: float
    ) -> None:
        """When it is to stop, it waits for `drained`, but no longer than `drain_seconds`."""
        super().__init__(_config(app))
        self._drained = drained
        self._drain_seconds = drain_seconds
        self.on_start: Callable[[], None] = lambda: None
        self.on_stop: Callable[[], None] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._drain()
        # Uvicorn ends the application after its connections, but a client's stream ends only
        # with the application; so it would be torn down, and reported as an error.
        ending = asyncio.create_task(self._end_application())
        await super().shutdown(sockets)
        ending.cancel()

    async def _drain(self) -> None:
        """Wait for the calls that are running, listening on: they may need an answer to end."""
        await asyncio.sleep(NOTICE_SECONDS)
        draining = asyncio.ensure_future(self._drained())
        deadline = time.monotonic() + self._drain_seconds
        while not draining.done() and not self.force_exit and time.monotonic() < deadline:
            await asyncio.wait([draining], timeout=LOOK_EVERY_SECONDS)
        draining.cancel()

    async def _end_application(self) -> None:
        await asyncio.sleep(GRACE_SECONDS)
        await self.lifespan.shutdown()
        # What is left are streams that would never end, as subscriptions are.
        for connection in list(self.server_state.connections):
            connection.transport.close()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def stop(self) -> None:
        """Finish what is being answered; when asked twice, do not wait for it."""
        self.force_exit = self.should_exit
        self.finish()

    def finish(self) -> None:
        """Stop as soon as what is being answered is done, however often asked."""
        self.should_exit = True
        self.on_stop()


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="on",
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=END_SECONDS,
    )


def listen(host: str, port: int, *, or_any_port: bool = False) -> socket.socket:
    """Return a listening socket; with `or_any_port`, on a free port when that one is taken."""
    try:
        return _listening(host, port)
    except OSError as error:
        if or_any_port and port:
            return listen(host, 0)
        raise Unavailable(
            f"Cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}",
            details={"host": host, "port": port},
            hint="stop what uses the port, or choose another with --port; 0 picks a free one",
        ) from error


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Not by `socket.create_server`: asyncio switches off Nagle's algorithm only where the
    # protocol is spelled out, and with it each small answer would take 40 ms longer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def base_url(listener: socket.socket) -> str:
    """Return where this machine's programs reach the server."""
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
