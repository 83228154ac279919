"""`/metrics`: what Prometheus asks for."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def metrics_route(measured: Callable[[], Awaitable[bytes]]) -> Route:
    """Return the route that answers with Prometheus' text."""

    async def show(_request: Request) -> Response:
        return Response(await measured(), headers=HEADERS, media_type=PROMETHEUS_TEXT)

    return Route("/metrics", show)
