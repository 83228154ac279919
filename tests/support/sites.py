"""The web surface of a test's own Quarterdeck, on a real port."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import uvicorn
from fastmcp import Client, FastMCP
from starlette.routing import Route

from quarterdeck.daemon.key import ensure_key
from quarterdeck.domain.access import Scope
from quarterdeck.domain.tokens import NewToken
from quarterdeck.http_server import listen
from quarterdeck.serve import endpoints_of
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck, FixedClock
from quarterdeck.web.app import About, Attempts, Locks, build_web
from tests.support.clients import Era, ToolClient
from tests.support.servers import bearer


@dataclass(frozen=True)
class Site:
    """Where it is, what opens it, who was refused; `delays` are those that guesses had to wait."""

    deck: Deck
    url: str
    key: str
    attempts: Attempts
    delays: list[float]

    def http(self, secret: str | None = None, **headers: str) -> httpx2.AsyncClient:
        shown = {} if secret is None else bearer(secret)
        return httpx2.AsyncClient(base_url=self.url, headers=shown | headers)

    @asynccontextmanager
    async def connected(
        self, secret: str, era: Era = "auto", path: str = "/mcp"
    ) -> AsyncGenerator[ToolClient]:
        async with Client(self.url + path, auth=secret, mode=era) as mcp:
            yield ToolClient(mcp)

    async def token(self, name: str, *scopes: Scope) -> NewToken:
        return await new_token(self.deck, name, scopes or (Scope.READ,))


@asynccontextmanager
async def site(
    deck: Deck,
    server: FastMCP[Any] | None = None,
    *,
    allowed_hosts: Sequence[str] = (),
    routes: Sequence[Route] = (),
) -> AsyncGenerator[Site]:
    delays: list[float] = []

    async def sleep(seconds: float) -> None:
        delays.append(seconds)

    product = deck.quarterdeck
    key, attempts = ensure_key(product.settings.home), Attempts(FixedClock(), sleep)
    with listen("127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        web = build_web(
            endpoints_of(server or deck.server),
            Locks(key, product.tokens.identify, attempts),
            About(url, "instance", ()),
            product.redactor,
            routes=routes,
            allowed_hosts=allowed_hosts,
        )
        async with running(web, listener):
            yield Site(deck, url, key, attempts, delays)


@asynccontextmanager
async def running(app: Callable[..., Any], listener: socket.socket) -> AsyncGenerator[None]:
    """Serve an application while the block runs."""
    config = uvicorn.Config(
        app, lifespan="on", log_config=None, log_level="warning", timeout_graceful_shutdown=5
    )
    started = asyncio.Event()
    server = _Server(config, started)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.wait(
            {asyncio.create_task(started.wait()), serving}, return_when=asyncio.FIRST_COMPLETED
        )
        yield
    finally:
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: asyncio.Event) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def new_token(deck: Deck, name: str, scopes: Iterable[Scope]) -> NewToken:
    """Make a token as the command line does, without a trace of it."""
    call = Call(surface="cli", name="cli.token.create", input=None, recorded=False)
    tokens = deck.quarterdeck.tokens
    return await deck.quarterdeck.calls.serve(call, lambda: tokens.create(name, scopes, life=None))
