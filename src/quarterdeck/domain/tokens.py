"""Tokens: who got one, for what and for how long; the rules for their names and lifetimes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from quarterdeck.domain.access import Scope, Scopes
from quarterdeck.domain.answer import Answer
from quarterdeck.errors import InvalidInput

NAME_LENGTH = 64
LONGEST_LIFE = timedelta(days=3650)
NEVER = "never"

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_LENGTH - 1}}}")
_LIFE = re.compile(r"([1-9][0-9]{0,6})([mhdw])")
_UNITS = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}

TokenState = Literal["active", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token; the secret itself is not."""

    id: str
    name: str
    hash: str
    scopes: Scopes
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    def state(self, now: datetime) -> TokenState:
        """Say whether it opens anything; what had expired when it was revoked stays expired."""
        if self.expires_at is not None and self.expires_at <= (self.revoked_at or now):
            return "expired"
        return "active" if self.revoked_at is None else "revoked"


def checked_token_name(name: str) -> None:
    """Refuse a name that would be mistaken for something else where it is shown."""
    if not _NAME.fullmatch(name):
        raise InvalidInput.field(
            "name", f"must be 1 to {NAME_LENGTH} letters, digits, dots, dashes or underscores"
        )
    if name.startswith("qd_"):
        raise InvalidInput.field("name", "looks like a token itself; choose a name for it")


def checked_scopes(scopes: Iterable[Scope]) -> Scopes:
    """Return the scopes a token is to have, which must be some."""
    if not (given := frozenset(scopes)):
        raise InvalidInput.field("scopes", "must name at least one", hint=f"{', '.join(Scope)}")
    return given


def lifetime(text: str) -> timedelta | None:
    """Read `30d`; `None` stands for ever, which has to be asked for."""
    if text == NEVER:
        return None
    if (found := _LIFE.fullmatch(text)) is None:
        raise InvalidInput.field(
            "expires",
            f"is not a time such as 30d: {text!r}",
            hint="write a number and m, h, d or w (minutes, hours, days, weeks), or 'never'",
        )
    life = int(found[1]) * _UNITS[found[2]]
    if life > LONGEST_LIFE:
        raise InvalidInput.field(
            "expires", f"is more than {LONGEST_LIFE.days} days", hint="'never' has no end at all"
        )
    return life


class TokenRow(Answer):
    """One token, without its secret."""

    id: str
    name: str
    scopes: list[Scope]
    state: TokenState
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class TokenListResponse(Answer):
    """Every token there was, newest first."""

    tokens: list[TokenRow]


class TokenRevokeResponse(Answer):
    """`revoked` is false when it had been revoked before."""

    id: str
    name: str
    revoked: bool
    message: str


class NewToken(Answer):
    """A token with its secret, which is told once."""

    secret: str
    token: TokenRow


def token_row(token: Token, now: datetime) -> TokenRow:
    """Return a token as it is listed."""
    return TokenRow(
        id=token.id,
        name=token.name,
        scopes=[scope for scope in Scope if scope in token.scopes],
        state=token.state(now),
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
    )
