"""Memory entries in SQL."""

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import product

from sqlalchemy import (
    ColumnElement,
    Integer,
    Text,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
)

from quarterdeck.domain.json import JsonObject
from quarterdeck.domain.memory import KEY_LENGTH, MemoryEntry
from quarterdeck.domain.search import entry_tokens, fold, tiers
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.memory_index import MemoryIndex
from quarterdeck.repositories.sql.tables import memory_table as t
from quarterdeck.repositories.sql.transaction import (
    Row,
    SqlTransaction,
    Statement,
    from_micros,
    sql,
    to_micros,
)

LAST_CHARACTER = "\U0010ffff"

_NAMED = (t.c.namespace == bindparam("namespace"), t.c.key == bindparam("key"))
_FIND = Statement(
    select(t.c.namespace, t.c.key, t.c.value, t.c.stored_at, t.c.place, t.c.seq).where(*_NAMED)
)
_REMOVE = Statement(delete(t).where(t.c.seq == bindparam("seq")))
_ADD = Statement(insert(t))


def _filters(*, by_namespace: bool, by_prefix: bool) -> list[ColumnElement[bool]]:
    filters: list[ColumnElement[bool]] = []
    if by_namespace:
        filters.append(t.c.namespace == bindparam("namespace"))
    if by_prefix:
        filters += [t.c.key >= bindparam("prefix"), t.c.key < bindparam("end")]
    return filters


def _counting(filters: list[ColumnElement[bool]]) -> Statement:
    return Statement(select(func.count()).select_from(t).where(*filters))


def _listing(filters: list[ColumnElement[bool]]) -> Statement:
    after = t.c.place > bindparam("after")
    no_value = literal_column("'{}'", type_=Text)
    query = select(t.c.namespace, t.c.key, no_value, t.c.stored_at, t.c.place, t.c.seq)
    page = query.where(after, *filters).order_by(t.c.place)
    return Statement(page.limit(bindparam("limit", type_=Integer)))


_SHAPES = list(product((False, True), repeat=2))
_COUNT = {(n, p): _counting(_filters(by_namespace=n, by_prefix=p)) for n, p in _SHAPES}
_LIST = {(n, p): _listing(_filters(by_namespace=n, by_prefix=p)) for n, p in _SHAPES}


class SqlMemoryRepository:
    """Implements `MemoryRepository`; the database's own search index is handed in."""

    def __init__(self, index: MemoryIndex) -> None:
        """`index` must belong to the store whose transactions are passed in."""
        self._index = index

    def put(
        self,
        tx: Transaction,
        namespace: str,
        key: str,
        value: JsonObject,
        text: str,
        now: datetime,
    ) -> bool:
        """Store `value`, keeping the place of the entry it replaces."""
        db = sql(tx)
        old = self.find(db, namespace, key)
        if old is not None:
            self._drop(db, old)
        seq = self._index.next_seq(db)
        row = {
            "seq": seq,
            "place": old.place if old else seq,
            "namespace": namespace,
            "key": key,
            "key_folded": fold(key),
            "value": text,
            "stored_at": to_micros(now),
        }
        db.run(_ADD, row)
        self._index.add(db, seq, entry_tokens(namespace, key, value))
        return old is not None

    def find(self, tx: Transaction, namespace: str, key: str) -> MemoryEntry | None:
        """Return the entry, or `None`."""
        row = sql(tx).row(_FIND, {"namespace": namespace, "key": key})
        return _entry(row) if row else None

    def remove(self, tx: Transaction, namespace: str, key: str) -> bool:
        """Forget the entry; return whether it was there."""
        db = sql(tx)
        old = self.find(db, namespace, key)
        if old is not None:
            self._drop(db, old)
        return old is not None

    def count(self, tx: Transaction, namespace: str | None, prefix: str) -> int:
        """Count the entries whose key starts with `prefix`, case-sensitively."""
        shape = (namespace is not None, prefix != "")
        row = sql(tx).row(_COUNT[shape], _where(namespace, prefix))
        assert row is not None, "a count always has one row"
        return row[0]

    def list(
        self, tx: Transaction, namespace: str | None, prefix: str, *, after: int, limit: int
    ) -> Sequence[MemoryEntry]:
        """Return entries by first store, oldest first, without their values."""
        shape = (namespace is not None, prefix != "")
        params = _where(namespace, prefix) | {"after": after, "limit": limit}
        return [_entry(row) for row in sql(tx).rows(_LIST[shape], params)]

    def search(
        self, tx: Transaction, query: str, namespace: str | None, limit: int
    ) -> Sequence[MemoryEntry]:
        """Return the best matches; a tier is only looked at while there is room."""
        db, folded = sql(tx), fold(query)
        found: list[MemoryEntry] = []
        for tier in tiers(query, namespace):
            room = limit - len(found)
            if room <= 0:
                break
            rows = self._index.newest(db, tier, folded, namespace, room)
            found += [_entry(row) for row in rows]
        return found

    def _drop(self, db: SqlTransaction, old: MemoryEntry) -> None:
        self._index.remove(db, old.seq, entry_tokens(old.namespace, old.key, old.value))
        db.run(_REMOVE, {"seq": old.seq})


def _entry(row: Row) -> MemoryEntry:
    namespace, key, value, stored_at, place, seq = row
    return MemoryEntry(namespace, key, json.loads(value), from_micros(stored_at), place, seq)


def _where(namespace: str | None, prefix: str) -> dict[str, object]:
    where: dict[str, object] = {} if namespace is None else {"namespace": namespace}
    return where | {"prefix": prefix, "end": _end_of(prefix)} if prefix else where


def _end_of(prefix: str) -> str:
    """Return the first text, in code point order, that comes after all with this prefix."""
    stem = prefix.rstrip(LAST_CHARACTER)
    if not stem:
        return LAST_CHARACTER * (KEY_LENGTH + 1)
    # Surrogates are not characters: what follows U+D7FF is U+E000.
    following = "\ue000" if stem[-1] == "\ud7ff" else chr(ord(stem[-1]) + 1)
    return stem[:-1] + following
