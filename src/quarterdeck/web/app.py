"""The HTTP surface: the MCP endpoint, health, metrics, a page that says what is running."""

from collections.abc import Awaitable, Callable

from fastmcp.server.http import HostOriginGuardMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from quarterdeck.domain.redaction import Redactor
from quarterdeck.web.errors import error_handlers
from quarterdeck.web.page import CONTENT_SECURITY_POLICY, About, ListedTool, render_page

__all__ = ["About", "ListedTool", "build_web"]

PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def build_web(
    mcp: Starlette,
    narrowed: ASGIApp,
    about: About,
    redactor: Redactor,
    metrics: Callable[[], Awaitable[bytes]],
) -> Starlette:
    """Return the application.

    `mcp` answers at `/mcp`, and is started and stopped with it; `narrowed` is the same with
    the toolsets that the path names. `metrics` returns Prometheus' text.
    """
    page = render_page(about)

    async def home(_request: Request) -> Response:
        return HTMLResponse(page, headers=HEADERS)

    async def health(_request: Request) -> Response:
        return JSONResponse({"ok": True, "instance": about.instance}, headers=HEADERS)

    async def measured(_request: Request) -> Response:
        text = await metrics()
        return Response(text, headers=HEADERS, media_type=PROMETHEUS_TEXT)

    return Starlette(
        routes=[
            Route("/", home),
            Route("/healthz", health),
            Route("/metrics", measured),
            Route("/mcp", endpoint=mcp),
            Route("/mcp/x/{toolsets}", endpoint=narrowed),
        ],
        # Strict: a page of another site must not reach us under a name that it made point here.
        middleware=[Middleware(HostOriginGuardMiddleware, mode="strict")],
        exception_handlers=error_handlers(redactor),
        lifespan=mcp.router.lifespan_context,
    )
