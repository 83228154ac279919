"""Tokens in SQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, or_, select, update

from quarterdeck.domain.access import Scope
from quarterdeck.domain.tokens import Token
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import tokens_table as t
from quarterdeck.repositories.sql.transaction import (
    Row,
    Statement,
    from_micros,
    read_moment,
    sql,
    stored_moment,
    to_micros,
)

_THIS = t.c.id == bindparam("the_token")
_NOW = bindparam("now", type_=t.c.last_used_at.type)

_ADD = Statement(insert(t))
_FIND = Statement(select(t).where(_THIS))
_FIND_LIVING = Statement(select(t).where(t.c.name == bindparam("name"), t.c.revoked_at.is_(None)))
_FIND_HASH = Statement(select(t).where(t.c.hash == bindparam("hash")))
_LIST = Statement(select(t).order_by(t.c.id.desc()))
_REVOKE = Statement(update(t).where(_THIS, t.c.revoked_at.is_(None)).values(revoked_at=_NOW))
_REMOVE_NAMED = Statement(delete(t).where(t.c.name == bindparam("name")))
_NOTE_USE = Statement(
    update(t)
    .where(_THIS, or_(t.c.last_used_at.is_(None), t.c.last_used_at < _NOW))
    .values(last_used_at=_NOW)
)


class SqlTokenRepository:
    """Implements `TokenRepository`."""

    def add(self, tx: Transaction, token: Token) -> None:
        """Keep a new token, whose name no living one has."""
        row = {
            "id": token.id,
            "name": token.name,
            "hash": token.hash,
            "scopes": ",".join(scope for scope in Scope if scope in token.scopes),
            "created_at": to_micros(token.created_at),
            "expires_at": stored_moment(token.expires_at),
            "revoked_at": stored_moment(token.revoked_at),
            "last_used_at": stored_moment(token.last_used_at),
        }
        sql(tx).run(_ADD, row)

    def find(self, tx: Transaction, token_id: str) -> Token | None:
        """Return the token with this id, or `None`."""
        return _found(sql(tx).row(_FIND, {"the_token": token_id}))

    def find_living(self, tx: Transaction, name: str) -> Token | None:
        """Return the living token of this name, expired or not, or `None`."""
        return _found(sql(tx).row(_FIND_LIVING, {"name": name}))

    def find_hash(self, tx: Transaction, secret_hash: str) -> Token | None:
        """Return the token whose secret has this hash, or `None`."""
        return _found(sql(tx).row(_FIND_HASH, {"hash": secret_hash}))

    def list(self, tx: Transaction) -> Sequence[Token]:
        """Return every token, newest first."""
        return [_token(row) for row in sql(tx).rows(_LIST, {})]

    def revoke(self, tx: Transaction, token_id: str, now: datetime) -> bool:
        """End a token's life; return whether it was living."""
        return sql(tx).run(_REVOKE, {"the_token": token_id, "now": to_micros(now)}) > 0

    def remove_named(self, tx: Transaction, name: str) -> None:
        """Forget every token of this name; safe to repeat."""
        sql(tx).run(_REMOVE_NAMED, {"name": name})

    def note_use(self, tx: Transaction, token_id: str, now: datetime) -> None:
        """Remember when a token was used last."""
        sql(tx).run(_NOTE_USE, {"the_token": token_id, "now": to_micros(now)})


def _found(row: Row | None) -> Token | None:
    return None if row is None else _token(row)


def _token(row: Row) -> Token:
    token_id, name, secret_hash, scopes, *times = row
    created_at, expires_at, revoked_at, last_used_at = times
    return Token(
        id=token_id,
        name=name,
        hash=secret_hash,
        scopes=frozenset(Scope(scope) for scope in scopes.split(",")),
        created_at=from_micros(created_at),
        expires_at=read_moment(expires_at),
        revoked_at=read_moment(revoked_at),
        last_used_at=read_moment(last_used_at),
    )
