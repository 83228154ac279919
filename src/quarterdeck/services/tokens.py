"""Tokens: made for somebody, shown once, taken back; and who it is that presents one."""

import hashlib
from collections.abc import Iterable
from datetime import timedelta

from quarterdeck.daemon.key import is_secret, new_secret
from quarterdeck.domain.access import Caller, Scope, implied
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.names import checked_name
from quarterdeck.domain.tokens import (
    NAME_LENGTH,
    NewToken,
    Token,
    TokenListResponse,
    TokenRevokeResponse,
    TokenRow,
    checked_scopes,
    checked_token_name,
    token_row,
)
from quarterdeck.errors import Conflict, NotFound, Unauthenticated
from quarterdeck.ports.repositories import TokenRepository
from quarterdeck.ports.store import Transaction
from quarterdeck.services.operation import Operation, Operations, operation

# When it was used last is of interest to people, to whom a minute is soon enough.
NOTED_EVERY = timedelta(minutes=1)


class TokenService:
    """Access for clients that cannot read the home's own key."""

    def __init__(self, operations: Operations, tokens: TokenRepository) -> None:
        """What is kept of tokens lives in `tokens`."""
        self.operations = operations
        self._tokens = tokens

    async def create(
        self, name: str | None, scopes: Iterable[Scope], *, life: timedelta | None
    ) -> NewToken:
        """Make a token; its secret is in this answer and nowhere else, not even in the trace.

        Without a name it gets one of its own; without a `life` it never expires.
        """
        secret = new_secret()
        return NewToken(secret=secret, token=await self._add(name, scopes, life, hashed(secret)))

    @operation("token.create", Effect.WRITE, scope=Scope.ADMIN)
    async def _add(
        self,
        op: Operation,
        name: str | None,
        scopes: Iterable[Scope],
        life: timedelta | None,
        secret_hash: str,
    ) -> TokenRow:
        now = self.operations.clock.now()
        token_id = new_id(now)
        token = Token(
            id=token_id,
            name=name or f"token-{token_id[-6:]}",
            hash=secret_hash,
            scopes=checked_scopes(scopes),
            created_at=now,
            expires_at=None if life is None else now + life,
        )
        checked_token_name(token.name)

        def decide(tx: Transaction) -> TokenRow:
            if holder := self._tokens.find_living(tx, token.name):
                if holder.state(now) == "active":
                    raise _taken(token.name)
                # An expired one gives its name away.
                self._tokens.revoke(tx, holder.id, now)
            self._tokens.add(tx, token)
            return token_row(token, now)

        return await op.commit(decide)

    @operation("token.list", Effect.READ, scope=Scope.ADMIN)
    async def list(self, op: Operation) -> TokenListResponse:
        """Return every token, newest first, without secrets."""
        now = self.operations.clock.now()
        tokens = await op.read(self._tokens.list)
        return TokenListResponse(tokens=[token_row(token, now) for token in tokens])

    @operation("token.revoke", Effect.DESTROY, scope=Scope.ADMIN)
    async def revoke(self, op: Operation, name_or_id: str) -> TokenRevokeResponse:
        """Take a token back, by its name or id; from then on it opens nothing.

        By the id it is safe to repeat; the name may be another's by then.
        """
        checked_name("token", name_or_id, longest=NAME_LENGTH)
        now = self.operations.clock.now()

        def decide(tx: Transaction) -> TokenRevokeResponse:
            found = self._tokens.find(tx, name_or_id) or self._tokens.find_living(tx, name_or_id)
            if found is None:
                raise _unknown(name_or_id)
            revoked = self._tokens.revoke(tx, found.id, now)
            what = "Revoked" if revoked else "Revoked before:"
            return TokenRevokeResponse(
                id=found.id, name=found.name, revoked=revoked, message=f"{what} {found.name!r}"
            )

        return await op.commit(decide)

    async def identify(self, secret: str) -> Caller:
        """Return whose token `secret` is; it is looked up each time, so that revoking is at once.

        Raises:
            Unauthenticated: It is no token of ours, or opens nothing any more.
        """
        if not is_secret(secret):
            raise Unauthenticated("unknown")
        store, now, secret_hash = self.operations.store, self.operations.clock.now(), hashed(secret)
        token = await store.read(lambda tx: self._tokens.find_hash(tx, secret_hash))
        if token is None:
            raise Unauthenticated("unknown")
        if (state := token.state(now)) != "active":
            raise Unauthenticated(state, token.name)
        if token.last_used_at is None or now - token.last_used_at >= NOTED_EVERY:
            await store.write(lambda tx: self._tokens.note_use(tx, token.id, now))
        return Caller(token.id, implied(token.scopes), token.name)


def hashed(secret: str) -> str:
    """Return what is kept of a secret; one of 256 random bits needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _taken(name: str) -> Conflict:
    return Conflict(
        f"There is a token {name!r} already",
        details={"name": name},
        hint=f"choose another name, or run 'quarterdeck token revoke {name}' first",
    )


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"There is no token {name!r} to revoke",
        details={"name": name},
        hint="run 'quarterdeck token list' to see all tokens",
    )
