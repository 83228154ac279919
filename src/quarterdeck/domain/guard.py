"""Rules that every operation is held to before it runs; a rule refuses by raising `Denied`."""

from collections.abc import Callable
from dataclasses import dataclass

from quarterdeck.domain.access import Scope, Scopes
from quarterdeck.domain.effect import Effect
from quarterdeck.errors import Denied


@dataclass(frozen=True, slots=True)
class Request:
    """What is about to be done, for whom, what that takes and what they have."""

    operation: str
    effect: Effect
    needs: Scope
    scopes: Scopes
    surface: str
    actor: str


Rule = Callable[[Request], None]


def read_only(request: Request) -> None:
    """Refuse everything that changes state, whichever surface asks for it."""
    if request.effect is not Effect.READ:
        raise Denied(
            f"{request.operation!r} changes state and this server is read-only",
            details={"rule": "read-only", "operation": request.operation},
            hint="start Quarterdeck without --read-only to allow changes",
        )


def within_scopes(request: Request) -> None:
    """Refuse what the caller's token was not made for, whichever surface asks for it."""
    require(request.needs, request.scopes, request.operation)


def require(needed: Scope, scopes: Scopes, what: str) -> None:
    """Refuse `what` to a caller without the scope it takes."""
    if needed not in scopes:
        raise Denied(
            f"{what!r} needs the scope {needed.value!r}, which the caller does not have",
            details={"rule": "scope", "operation": what, "scope": needed.value},
            hint=f"use a token made with 'quarterdeck token create --scope {needed.value}'",
        )
