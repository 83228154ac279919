"""The servers, from open database to clean end: over stdio, and over HTTP on this machine.

Beside `app`: it joins the surfaces, which do not know each other.
"""

import asyncio
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import uvicorn
from fastmcp import FastMCP
from starlette.applications import Starlette

from quarterdeck.app import Quarterdeck, SystemClock, open_quarterdeck
from quarterdeck.cli.logs import take_over
from quarterdeck.daemon.key import ensure_key
from quarterdeck.errors import Unavailable
from quarterdeck.homes import prepare_home
from quarterdeck.settings import DatabaseSettings, ServerSettings, Settings, TelemetrySettings
from quarterdeck.tools.narrowing import Narrowed
from quarterdeck.tools.server import Offer, Services, build_server
from quarterdeck.tools.stdio import readable_stdin
from quarterdeck.web.app import About, Attempts, Endpoints, ListedTool, Locks, build_web

logger = logging.getLogger(__name__)

# Time for running calls to write their traces, once a signal has come.
GRACE_SECONDS = 0.5
# The same over HTTP, after which the streams that idle clients hold open are ended.
HTTP_GRACE_SECONDS = 1
BACKLOG = 2048


async def serve_stdio(settings: Settings) -> None:
    """Serve until the client closes our stdin, or until a signal."""
    with readable_stdin():
        async with open_quarterdeck(settings) as deck, deck.serving():
            serving = asyncio.create_task(_mcp(deck).run_async("stdio", show_banner=False))
            await _ended_or_signalled(serving)
        if not serving.done():
            # A thread waits in a read of stdin, and nothing but the client can wake it. All
            # that is left would wait for that thread: closing the stream, ending Python.
            os._exit(0)


async def serve_http(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal; tell `announce` the base URL once requests are answered."""
    key = ensure_key(prepare_home(settings))
    _warn_if_open(settings.server)
    with closing(_listen(settings.server)) as listener:
        async with open_quarterdeck(settings) as deck, deck.serving():
            mcp, address = _mcp(deck), _address(listener)
            about = About(
                address=address,
                instance=deck.daemons.daemon_id,
                tools=[ListedTool(tool.name, tool.title or "") for tool in await mcp.list_tools()],
            )
            locks = Locks(key, deck.tokens.identify, Attempts(SystemClock()))
            names = settings.server.names
            web = build_web(endpoints_of(mcp), locks, about, deck.redactor, allowed_hosts=names)
            server = _HttpServer(_config(web), lambda: announce(address))
            with _on_signal(server.stop):
                await server.serve(sockets=[listener])


def endpoints_of(mcp: FastMCP[Any]) -> Endpoints:
    """Return the HTTP endpoints of a server; whoever serves them must have a gate before them."""
    # Host and Origin are looked at before, by `build_web`, for every path.
    endpoint = mcp.http_app(
        path="/mcp", json_response=False, stateless_http=False, host_origin_protection=False
    )
    read_only = Narrowed(endpoint, "/mcp", read_only=True)
    return Endpoints(endpoint, Narrowed(endpoint, "/mcp"), read_only)


async def count_tools(settings: Settings) -> int:
    """Start a server in a throw-away home, and return how many tools it offers."""
    with tempfile.TemporaryDirectory(prefix="quarterdeck-") as home:
        apart = {
            "home": Path(home),
            "database": DatabaseSettings(durability="normal"),
            "telemetry": TelemetrySettings(),
        }
        beside = settings.model_copy(update=apart)
        async with open_quarterdeck(beside) as deck:
            return len(await _mcp(deck).list_tools())


async def _ended_or_signalled(serving: "asyncio.Task[None]") -> None:
    stopped = asyncio.Event()
    with _on_signal(stopped.set):
        waiting = asyncio.create_task(stopped.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if stopped.is_set():
        serving.cancel()
        await asyncio.wait({serving}, timeout=GRACE_SECONDS)
    else:
        waiting.cancel()
        await serving


def _mcp(deck: Quarterdeck) -> FastMCP[Any]:
    take_over("fastmcp")  # which came with a handler of its own when it was imported
    offered = deck.settings.server
    return build_server(
        Services(deck.calls, deck.memory, deck.traces, deck.redactor),
        Offer(toolsets=offered.toolsets, read_only=offered.read_only),
    )


class _HttpServer(uvicorn.Server):
    """Uvicorn that leaves signals to us: it would end the process before the store is closed."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Uvicorn ends the application after its connections, but a client's stream ends only
        # with the application; so it would be torn down, and reported as an error.
        ending = asyncio.create_task(self._end_application())
        await super().shutdown(sockets)
        ending.cancel()

    async def _end_application(self) -> None:
        await asyncio.sleep(HTTP_GRACE_SECONDS)
        await self.lifespan.shutdown()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def stop(self) -> None:
        """Finish what is being answered; when asked twice, do not wait for it."""
        self.force_exit = self.should_exit
        self.should_exit = True


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
        timeout_graceful_shutdown=2 * HTTP_GRACE_SECONDS,
    )


def _warn_if_open(settings: ServerSettings) -> None:
    if not settings.is_local:
        logger.warning(
            "Listening on %s, where others can read what is sent, tokens included: put a TLS proxy"
            " in front of it, or listen on 127.0.0.1 and let clients come by an SSH tunnel",
            settings.host,
        )


def _listen(settings: ServerSettings) -> socket.socket:
    host, port = settings.host, settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise Unavailable(
            f"Cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}",
            details={"host": host, "port": port},
            hint="stop what uses the port, or choose another with --port; 0 picks a free one",
        ) from error
    # Connections inherit it. Asyncio sets it only on sockets that it made itself, and without it
    # the second half of an answer waits 40 ms for the client to confirm the first.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _on_signal(stop: Callable[[], None]) -> Generator[None]:
    loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
