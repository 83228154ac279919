"""The HTTP surface: the MCP endpoint, a health check, a page that says what is running."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastmcp.server.http import HostOriginGuardMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from quarterdeck.domain.redaction import Redactor
from quarterdeck.web.access import Gate, Locks
from quarterdeck.web.attempts import Attempts
from quarterdeck.web.errors import error_handlers
from quarterdeck.web.page import CONTENT_SECURITY_POLICY, About, ListedTool, render_page

__all__ = ["About", "Attempts", "Endpoints", "ListedTool", "Locks", "build_web"]

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Endpoints:
    """The MCP endpoint, which answers at `/mcp`, and the same with less of it.

    `narrowed` has the toolsets that the path names, `read_only` moreover only what reads.
    """

    mcp: Starlette
    narrowed: ASGIApp
    read_only: ASGIApp


def build_web(
    endpoints: Endpoints,
    locks: Locks,
    about: About,
    redactor: Redactor,
    *,
    routes: Sequence[Route] = (),
    allowed_hosts: Sequence[str] = (),
) -> Starlette:
    """Return the application; the MCP endpoint is started and stopped with it.

    `routes` are what else is behind the gate. Clients reach it by the names of this machine's
    loopback and by `allowed_hosts`.
    """
    page = render_page(about)

    async def home(_request: Request) -> Response:
        return HTMLResponse(page, headers=HEADERS)

    async def health(_request: Request) -> Response:
        return JSONResponse({"ok": True, "instance": about.instance}, headers=HEADERS)

    return Starlette(
        routes=[
            Route("/", home),
            Route("/healthz", health),
            Route("/mcp", endpoint=endpoints.mcp),
            Route("/mcp/readonly", endpoint=endpoints.read_only),
            Route("/mcp/x/{toolsets}", endpoint=endpoints.narrowed),
            Route("/mcp/x/{toolsets}/readonly", endpoint=endpoints.read_only),
            *routes,
        ],
        middleware=[
            # Strict: a page of another site must not reach us under a name that it made point
            # here. First, so that such a page learns nothing about tokens.
            Middleware(HostOriginGuardMiddleware, mode="strict", **_names(allowed_hosts)),
            Middleware(Gate, locks=locks, redactor=redactor),
        ],
        exception_handlers=error_handlers(redactor),
        lifespan=endpoints.mcp.router.lifespan_context,
    )


def _names(hosts: Sequence[str]) -> dict[str, list[str]]:
    # A page that a TLS proxy shows under one of the names comes from there, not from our http.
    return {"allowed_hosts": list(hosts), "allowed_origins": [f"https://{name}" for name in hosts]}
