"""The gate: who is let in, and as whom; only the start page and the health check are before it.

Host and Origin are looked at before, and scopes once more by every operation.
"""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from quarterdeck.domain.access import CALLER, OWNER, Caller, Scope
from quarterdeck.domain.guard import require
from quarterdeck.domain.redaction import Redactor
from quarterdeck.errors import QuarterdeckError, Unauthenticated
from quarterdeck.web.attempts import Attempts
from quarterdeck.web.errors import error_response

OPEN_PATHS = frozenset({"/", "/healthz"})
# What deals with the daemon itself; everything else takes at least the right to look.
CONTROL = "/control"

Identify = Callable[[str], Awaitable[Caller]]


@dataclass(frozen=True)
class Locks:
    """What opens the gate: the home's own `key`, or a token that `identify` knows."""

    key: str
    identify: Identify
    attempts: Attempts


class Gate:
    """ASGI middleware that lets a request pass with its caller, or answers it itself."""

    def __init__(self, app: ASGIApp, locks: Locks, redactor: Redactor) -> None:
        self._app = app
        self._locks = locks
        self._redactor = redactor

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._admitted(scope)
            require(_needed(scope["path"]), caller.scopes, scope["path"])
        except QuarterdeckError as error:
            await self._refusal(error)(scope, receive, send)
            return
        await self._app({**scope, CALLER: caller, "user": _principal(caller)}, receive, send)

    async def _admitted(self, scope: AsgiScope) -> Caller:
        address = (scope.get("client") or ("unknown",))[0]
        attempts, secret = self._locks.attempts, _bearer(Headers(scope=scope))
        if secret is None:
            attempts.count(address, "missing")
            raise Unauthenticated("missing")
        if hmac.compare_digest(secret.encode(), self._locks.key.encode()):
            return OWNER
        try:
            return await self._locks.identify(secret)
        except Unauthenticated as error:
            attempts.count(address, str(error.details["problem"]))
            await attempts.slow_down(address)
            raise

    def _refusal(self, error: QuarterdeckError) -> ASGIApp:
        response = error_response(error, self._redactor)
        if isinstance(error, Unauthenticated):
            is_shown = error.details["problem"] != "missing"
            why = ', error="invalid_token"' if is_shown else ""
            response.headers["WWW-Authenticate"] = f'Bearer realm="quarterdeck"{why}'
        return response


def _bearer(headers: Headers) -> str | None:
    kind, _, secret = headers.get("authorization", "").strip().partition(" ")
    return secret.strip() if kind.lower() == "bearer" and secret.strip() else None


def _needed(path: str) -> Scope:
    is_control = path == CONTROL or path.startswith(f"{CONTROL}/")
    return Scope.ADMIN if is_control else Scope.READ


def _principal(caller: Caller) -> AuthenticatedUser:
    """Return the caller as the MCP SDK knows one; a session answers only to whom it began with."""
    # The SDK asks for the secret too, and has no use for it.
    return AuthenticatedUser(AccessToken(token="", client_id=caller.id, scopes=[]))
