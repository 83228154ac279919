"""`/mcp/x/memory,trace`: the same server with fewer tools, chosen by the address.

The choice belongs to the request, not to the connection: `tools/list` never changes because of
an earlier call.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastmcp.server.middleware import MiddlewareContext

from quarterdeck.errors import NotFound, closest_name
from quarterdeck.toolsets import ALL, TOOLSETS

Scope = MutableMapping[str, Any]
Asgi = Callable[[Scope, Any, Any], Awaitable[None]]

_CHOSEN = "quarterdeck.toolsets"


class Narrowed:
    """An ASGI endpoint that notes the toolsets its path names and passes the request on."""

    def __init__(self, mcp: Asgi, path: str) -> None:
        """`mcp` answers at `path`."""
        self._mcp = mcp
        self._path = path

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:  # noqa: ANN401 - as ASGI has it
        """Refuse an unknown toolset, so that a typing error does not look like an empty server."""
        chosen = frozenset(scope["path_params"]["toolsets"].split(","))
        for name in chosen - {*TOOLSETS, ALL}:
            raise _unknown(name)
        path = self._path
        await self._mcp({**scope, "path": path, "raw_path": None, _CHOSEN: chosen}, receive, send)


def chosen_toolsets(context: MiddlewareContext[Any]) -> frozenset[str] | None:
    """Return the toolsets that the request's address names; `None` for all that are offered."""
    mcp_request = context.fastmcp_context and context.fastmcp_context.request_context
    request = mcp_request.request if mcp_request else None
    chosen = None if request is None else request.scope.get(_CHOSEN)
    return None if chosen is None or ALL in chosen else chosen


def _unknown(name: str) -> NotFound:
    closest = closest_name(name, TOOLSETS)
    return NotFound(
        f"There is no toolset {name!r}",
        details={"toolset": name, "known": list(TOOLSETS)},
        hint=f"did you mean {closest!r}?" if closest else "name them as in /mcp/x/memory,trace",
    )
