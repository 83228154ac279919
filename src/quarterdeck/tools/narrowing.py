"""`/mcp/x/memory,trace` and `/mcp/readonly`: the same server with fewer tools, by the address.

The choice belongs to the request, not to the connection: `tools/list` never changes because of
an earlier call.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastmcp.server.middleware import MiddlewareContext

from quarterdeck.domain.access import CALLER, ONLY_READ, OWNER, STRANGER, Caller
from quarterdeck.errors import NotFound, closest_name
from quarterdeck.toolsets import ALL, TOOLSETS

Scope = MutableMapping[str, Any]
Asgi = Callable[[Scope, Any, Any], Awaitable[None]]

_CHOSEN = "quarterdeck.toolsets"


class Narrowed:
    """An ASGI endpoint that notes what its path leaves of the server and passes the request on."""

    def __init__(self, mcp: Asgi, path: str, *, read_only: bool = False) -> None:
        """`mcp` answers at `path`; with `read_only`, no caller may do more than look."""
        self._mcp = mcp
        self._path = path
        self._read_only = read_only

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:  # noqa: ANN401 - as ASGI has it
        """Refuse an unknown toolset, so that a typing error does not look like an empty server."""
        chosen = frozenset(scope["path_params"].get("toolsets", ALL).split(","))
        for name in chosen - {*TOOLSETS, ALL}:
            raise _unknown(name)
        inner = {**scope, "path": self._path, "raw_path": None, _CHOSEN: chosen}
        if self._read_only:
            inner[CALLER] = _carried(scope).narrowed(ONLY_READ)
        await self._mcp(inner, receive, send)


def chosen_toolsets(context: MiddlewareContext[Any]) -> frozenset[str] | None:
    """Return the toolsets that the request's address names; `None` for all that are offered."""
    http = _http_scope(context)
    chosen = None if http is None else http.get(_CHOSEN)
    return None if chosen is None or ALL in chosen else chosen


def caller_of(context: MiddlewareContext[Any]) -> Caller:
    """Return who sent the request, as the gate and the address say.

    What does not come over HTTP comes from a process of the owner's; what comes over HTTP
    and past the gate comes from nobody.
    """
    return caller_at(_request(context))


def caller_at(request: Any) -> Caller:  # noqa: ANN401 - Starlette's, or nothing
    """Return who sent an HTTP request; what came otherwise has none."""
    return OWNER if request is None else _carried(request.scope)


def _http_scope(context: MiddlewareContext[Any]) -> Scope | None:
    request = _request(context)
    return None if request is None else request.scope


def _request(context: MiddlewareContext[Any]) -> Any:  # noqa: ANN401 - Starlette's, or nothing
    mcp_request = context.fastmcp_context and context.fastmcp_context.request_context
    return mcp_request.request if mcp_request else None


def _carried(scope: Scope) -> Caller:
    return scope.get(CALLER, STRANGER)


def _unknown(name: str) -> NotFound:
    closest = closest_name(name, TOOLSETS)
    return NotFound(
        f"There is no toolset {name!r}",
        details={"toolset": name, "known": list(TOOLSETS)},
        hint=f"did you mean {closest!r}?" if closest else "name them as in /mcp/x/memory,trace",
    )
