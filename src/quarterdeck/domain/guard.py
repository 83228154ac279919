"""Rules that every operation is held to before it runs; a rule refuses by raising `Denied`."""

from collections.abc import Callable
from dataclasses import dataclass

from quarterdeck.domain.effect import Effect
from quarterdeck.errors import Denied


@dataclass(frozen=True, slots=True)
class Request:
    """What is about to be done, and for whom."""

    operation: str
    effect: Effect
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
