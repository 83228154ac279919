"""Who may do what: scopes, and the callers that have them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from quarterdeck.domain.effect import Effect

# Under this key a request carries its caller from the gate to the surface that serves it.
CALLER = "quarterdeck.caller"


class Scope(StrEnum):
    """READ looks, WRITE changes, APPROVE answers for a person, ADMIN does everything."""

    READ = "read"
    WRITE = "write"
    APPROVE = "approve"
    ADMIN = "admin"


Scopes = frozenset[Scope]
ALL_SCOPES: Scopes = frozenset(Scope)
ONLY_READ: Scopes = frozenset({Scope.READ})


def implied(scopes: Iterable[Scope]) -> Scopes:
    """Return the scopes with all that they include: each includes READ, ADMIN every one."""
    given = frozenset(scopes)
    if Scope.ADMIN in given:
        return ALL_SCOPES
    return given | ONLY_READ if given else given


def scope_of(effect: Effect) -> Scope:
    """Return what a caller needs for an effect, unless an operation asks for something else."""
    return Scope.READ if effect is Effect.READ else Scope.WRITE


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in; `token` is the name of the token that was shown, if one was."""

    id: str
    scopes: Scopes
    token: str | None = None

    def narrowed(self, scopes: Scopes) -> "Caller":
        """Return the same caller with no more than `scopes`."""
        return Caller(self.id, self.scopes & scopes, self.token)


# Whoever can start our programs on an open home, or read its key, owns all that is in it.
OWNER = Caller("home", ALL_SCOPES)
STRANGER = Caller("nobody", frozenset())
