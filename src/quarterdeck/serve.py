"""The servers, from open database to clean end: over stdio, and over HTTP on this machine.

Beside `app`: it joins the surfaces, which do not know each other.
"""

import asyncio
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from fastmcp import FastMCP

from quarterdeck import __version__
from quarterdeck.app import Quarterdeck, open_quarterdeck
from quarterdeck.cli.logs import take_over
from quarterdeck.daemon.address import Address, held_for_life, withdraw
from quarterdeck.daemon.address import announce as declare
from quarterdeck.homes import prepare_home
from quarterdeck.http_server import HttpServer, base_url, listen
from quarterdeck.settings import DatabaseSettings, Settings, TelemetrySettings
from quarterdeck.tools.narrowing import Narrowed
from quarterdeck.tools.server import Offer, Services, build_server
from quarterdeck.tools.stdio import readable_stdin
from quarterdeck.web.app import About, ListedTool, build_web
from quarterdeck.web.control import Control

# Time for running calls to write their traces, once a signal has come.
GRACE_SECONDS = 0.5


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
    """Be the daemon of the home until a signal; `announce` is told the base URL once it answers."""
    home = prepare_home(settings)
    with held_for_life(home), closing(_listener(settings)) as listener:
        async with open_quarterdeck(settings) as deck, deck.serving():
            address = Address(
                url=base_url(listener),
                pid=os.getpid(),
                started_at=time.time(),
                instance=deck.daemons.daemon_id,
                version=__version__,
                flags=settings.flags(),
            )
            server = await _http_server(deck, address)

            def started() -> None:
                declare(home, address)
                announce(address.url)

            server.on_start = started
            server.on_stop = lambda: withdraw(home)
            with _on_signal(server.stop):
                await server.serve(sockets=[listener])


async def _http_server(deck: Quarterdeck, address: Address) -> HttpServer:
    mcp = _mcp(deck)
    endpoint = mcp.http_app(
        path="/mcp",
        json_response=False,
        stateless_http=False,
        host_origin_protection=True,
        session_idle_timeout=deck.settings.server.session_idle_seconds,
    )
    tools = [ListedTool(tool.name, tool.title or "") for tool in await mcp.list_tools()]
    about = About(address=address.url, instance=address.instance, tools=tools)
    control = Control(address, lambda: deck.calls.running)
    web = build_web(endpoint, Narrowed(endpoint, "/mcp"), about, control, deck.redactor)
    server = HttpServer(
        web,
        drained=deck.calls.until_idle,
        drain_seconds=deck.settings.server.drain_seconds,
    )
    control.stop = server.finish
    return server


def _listener(settings: Settings) -> socket.socket:
    is_default = settings.origin_of("server.port") == "default"
    return listen(settings.server.host, settings.server.port, or_any_port=is_default)


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
