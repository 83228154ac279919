"""The servers, from open database to clean end: over stdio, and over HTTP on this machine.

Beside `app`: it joins the surfaces, which do not know each other.
"""

import asyncio
import os
import signal
import socket
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from fastmcp import FastMCP
from starlette.applications import Starlette

from quarterdeck.app import Quarterdeck, open_database, open_quarterdeck
from quarterdeck.cli.logs import take_over
from quarterdeck.errors import Unavailable
from quarterdeck.settings import DatabaseSettings, ServerSettings, Settings, TelemetrySettings
from quarterdeck.tools.narrowing import Narrowed
from quarterdeck.tools.server import Offer, Services, build_server
from quarterdeck.tools.stdio import readable_stdin
from quarterdeck.web.app import About, ListedTool, build_web

if TYPE_CHECKING:
    from quarterdeck.metrics import Metrics

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
    # Imported here: over stdio nobody asks for metrics, and its client waits for the start.
    from quarterdeck.metrics import Metrics

    metrics = Metrics()
    with closing(_listen(settings.server)) as listener:
        async with open_quarterdeck(settings, meter=metrics) as deck, deck.serving():
            mcp, address = _mcp(deck), _address(listener)
            endpoint = mcp.http_app(
                path="/mcp",
                json_response=False,
                stateless_http=False,
                host_origin_protection=True,
            )
            about = About(
                address=address,
                instance=deck.daemons.daemon_id,
                tools=[ListedTool(tool.name, tool.title or "") for tool in await mcp.list_tools()],
            )
            shown = _shown(metrics, deck, refused=lambda: 0)
            web = build_web(endpoint, Narrowed(endpoint, "/mcp"), about, deck.redactor, shown)
            server = _HttpServer(_config(web), lambda: announce(address))
            with _on_signal(server.stop):
                await server.serve(sockets=[listener])


def _shown(
    metrics: "Metrics", deck: Quarterdeck, *, refused: Callable[[], int]
) -> Callable[[], Awaitable[bytes]]:
    """Return what answers with the metrics; without the store's size while it is away.

    `refused` counts the requests that came without valid credentials.
    """
    from quarterdeck.metrics import Watched

    database = open_database(deck.settings)

    async def shown() -> bytes:
        try:
            stored = await asyncio.to_thread(database.stored_bytes)
        except Unavailable:
            stored = None
        return metrics.text(Watched(deck.calls.running, refused(), stored))

    return shown


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


def _listen(settings: ServerSettings) -> socket.socket:
    host, port = settings.host, settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise Unavailable(
            f"Cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}",
            details={"host": host, "port": port},
            hint="stop what uses the port, or choose another with --port; 0 picks a free one",
        ) from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
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
