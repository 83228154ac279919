"""The servers, from open database to clean end: over stdio, and over HTTP on this machine.

Beside `app`: it joins the surfaces, which do not know each other.
"""

import asyncio
import logging
import os
import signal
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from starlette.routing import Route

from quarterdeck import __version__
from quarterdeck.app import Quarterdeck, SystemClock, open_database, open_quarterdeck
from quarterdeck.cli.logs import take_over
from quarterdeck.daemon.address import Address, held_for_life, withdraw
from quarterdeck.daemon.address import announce as declare
from quarterdeck.daemon.key import ensure_key
from quarterdeck.domain.access import Caller
from quarterdeck.errors import Unavailable
from quarterdeck.homes import prepare_home
from quarterdeck.http_server import HttpServer, base_url, listen
from quarterdeck.overrides.reading import read_metadata
from quarterdeck.overrides.surface import Surface
from quarterdeck.settings import DatabaseSettings, ServerSettings, Settings, TelemetrySettings
from quarterdeck.tools.commanding import Commanded, Commanding
from quarterdeck.tools.commands import commanded
from quarterdeck.tools.narrowing import Narrowed
from quarterdeck.tools.resources import QUESTIONS
from quarterdeck.tools.server import Offer, Services, build_server
from quarterdeck.tools.stdio import readable_stdin
from quarterdeck.tools.surface import everything
from quarterdeck.tools.words import Words
from quarterdeck.web.app import About, Attempts, Endpoints, ListedTool, Locks, build_web
from quarterdeck.web.commands import Asked, command_route
from quarterdeck.web.control import Control
from quarterdeck.web.metrics import metrics_route

if TYPE_CHECKING:
    from quarterdeck.metrics import Metrics

logger = logging.getLogger(__name__)

# Time for running calls to write their traces, once a signal has come.
GRACE_SECONDS = 0.5
TO_RESTART = 75  # sysexits(3): try again


async def serve_stdio(settings: Settings) -> None:
    """Serve until the client closes our stdin, or until a signal."""
    with readable_stdin():
        async with open_quarterdeck(settings) as deck, deck.serving():
            mcp = _mcp(deck)
            words = _words(deck, mcp)
            await words.load()
            _keep_telling(deck, words)
            serving = asyncio.create_task(mcp.run_async("stdio", show_banner=False))
            await _ended_or_signalled(serving)
        if not serving.done():
            # A thread waits in a read of stdin, and nothing but the client can wake it. All
            # that is left would wait for that thread: closing the stream, ending Python.
            os._exit(0)


async def serve_http(settings: Settings, announce: Callable[[str], None]) -> int:
    """Be the daemon of the home until a signal, and return the exit code.

    `announce` is told the base URL once requests are answered.
    """
    # Imported here: over stdio nobody asks for metrics, and its client waits for the start.
    from quarterdeck.metrics import Metrics

    home, metrics = prepare_home(settings), Metrics()
    key = ensure_key(home)
    _warn_if_open(settings.server)
    with held_for_life(home), closing(_listener(settings)) as listener:
        async with open_quarterdeck(settings, meter=metrics) as deck, deck.serving():
            address = Address(
                url=base_url(listener),
                pid=os.getpid(),
                started_at=time.time(),
                instance=deck.daemons.daemon_id,
                version=__version__,
                flags=settings.flags(),
                managed=settings.server.managed,
            )
            deck.badges.url = address.url
            control = Control(address, lambda: deck.calls.running + deck.crew.busy)
            server = await _http_server(deck, control, key, metrics)

            def started() -> None:
                declare(home, address)
                announce(address.url)

            server.on_start = started
            server.on_stop = lambda: withdraw(home)
            with _on_signal(server.stop):
                await server.serve(sockets=[listener])
    # A service manager starts again what fails, and leaves alone what ends well.
    return TO_RESTART if settings.server.managed and control.is_to_restart else 0


async def _http_server(
    deck: Quarterdeck, control: Control, key: str, metrics: "Metrics"
) -> HttpServer:
    mcp, settings, address = _mcp(deck), deck.settings.server, control.address
    attempts = Attempts(SystemClock())
    # In the package's words: the page is open to strangers, and the user's are not for them.
    tools = [ListedTool(tool.name, tool.title or "") for tool in await mcp.list_tools()]
    words = _words(deck, mcp)
    await words.load()
    control.reload = words.reload
    _keep_telling(deck, words)
    about = About(address=address.url, instance=address.instance, tools=tools)
    web = build_web(
        endpoints_of(mcp, session_idle_seconds=settings.session_idle_seconds),
        Locks(key, deck.tokens.identify, attempts),
        about,
        deck.redactor,
        routes=[
            *control.routes(),
            commands_of(deck),
            metrics_route(_measured(metrics, deck, attempts)),
        ],
        allowed_hosts=settings.names,
    )
    server = HttpServer(web, drained=deck.calls.until_idle, drain_seconds=settings.drain_seconds)
    control.stop = server.finish
    return server


def commands_of(deck: Quarterdeck) -> Route:
    """Return the route by which commands have the daemon do something."""
    commanding = Commanding(deck.calls, commanded(deck.fleet))

    async def carry_out(asked: Asked, caller: Caller) -> str:
        command = Commanded(asked.command, asked.tool, asked.arguments, asked.user)
        return await commanding.run(command, caller)

    return command_route(carry_out)


def _keep_telling(deck: Quarterdeck, words: Words) -> None:
    questions = deck.fleet.questions.changes()
    deck.crew.spawn(words.changes.announce_each(questions, QUESTIONS))


def _measured(
    metrics: "Metrics", deck: Quarterdeck, attempts: Attempts
) -> Callable[[], Awaitable[bytes]]:
    """Return what answers with the metrics; without the store's size while it is away."""
    from quarterdeck.metrics import Watched

    database = open_database(deck.settings)

    async def measured() -> bytes:
        try:
            stored = await asyncio.to_thread(database.stored_bytes)
        except Unavailable:
            stored = None
        return metrics.text(Watched(deck.calls.running, attempts.refused, stored))

    return measured


def endpoints_of(mcp: FastMCP[Any], *, session_idle_seconds: float = 1800) -> Endpoints:
    """Return the HTTP endpoints of a server; whoever serves them must have a gate before them."""
    endpoint = mcp.http_app(
        path="/mcp",
        json_response=False,
        stateless_http=False,
        # `build_web` looks at Host and Origin, for every path.
        host_origin_protection=False,
        session_idle_timeout=session_idle_seconds,
    )
    read_only = Narrowed(endpoint, "/mcp", read_only=True)
    return Endpoints(endpoint, Narrowed(endpoint, "/mcp"), read_only)


def _warn_if_open(settings: ServerSettings) -> None:
    if not settings.is_local:
        logger.warning(
            "Listening on %s, where others can read what is sent, tokens included: put a TLS proxy"
            " in front of it, or listen on 127.0.0.1 and let clients come by an SSH tunnel",
            settings.host,
        )


def _listener(settings: Settings) -> socket.socket:
    is_default = settings.origin_of("server.port") == "default"
    return listen(settings.server.host, settings.server.port, or_any_port=is_default)


async def count_tools(settings: Settings) -> int:
    """Start a server in a throw-away home, and return how many tools it offers."""
    async with _beside(settings) as deck:
        mcp = _mcp(deck)
        await _words(deck, mcp).load()
        return len(await mcp.list_tools())


async def offered(settings: Settings, *, effective: bool) -> Surface:
    """Return everything the package has, in its own words or in those of the user's file."""
    async with _beside(settings) as deck:
        components = await everything(_services(deck), _mcp(deck))
    if effective:
        components = components.in_words(read_metadata(settings.metadata_path).overrides)
    return components.surface()


@asynccontextmanager
async def _beside(settings: Settings) -> AsyncGenerator[Quarterdeck]:
    """Open a Quarterdeck in a throw-away home."""
    with tempfile.TemporaryDirectory(prefix="quarterdeck-") as home:
        apart = {
            "home": Path(home),
            "metadata": settings.metadata_path,
            "database": DatabaseSettings(durability="normal"),
            "telemetry": TelemetrySettings(),
        }
        async with open_quarterdeck(settings.model_copy(update=apart)) as deck:
            yield deck


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
    settings = deck.settings.server
    offer = Offer(toolsets=settings.toolsets, read_only=settings.read_only)
    return build_server(_services(deck), offer)


def _services(deck: Quarterdeck) -> Services:
    return Services(deck.calls, deck.fleet, deck.memory, deck.traces, deck.redactor)


def _words(deck: Quarterdeck, mcp: FastMCP[Any]) -> Words:
    return Words(_services(deck), mcp, deck.settings.metadata_path)


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
