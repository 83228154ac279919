"""Rows that are whole things with an id: kept, written over, found."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from sqlalchemy import Table, bindparam, insert, select, update

from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.transaction import Row, Statement, sql

T = TypeVar("T")


class ById(Generic[T]):
    """Base of repositories of such rows; `stored` and `read` turn one into columns and back."""

    def __init__(
        self,
        table: Table,
        stored: Callable[[T], dict[str, object]],
        read: Callable[[Mapping[str, Any]], T],
    ) -> None:
        this = table.c.id == bindparam("this_id")
        self._names = [column.name for column in table.c]
        others: dict[str, Any] = {name: bindparam(name) for name in self._names if name != "id"}
        self._stored = stored
        self._read = read
        self._add = Statement(insert(table))
        self._save = Statement(update(table).where(this).values(others))
        self._find = Statement(select(table).where(this))

    def add(self, tx: Transaction, thing: T, /) -> None:
        """Keep a new one."""
        sql(tx).run(self._add, self._stored(thing))

    def save(self, tx: Transaction, thing: T, /) -> None:
        """Write one over itself, after it was found in the same transaction."""
        columns = self._stored(thing)
        sql(tx).run(self._save, {**columns, "this_id": columns.pop("id")})

    def find(self, tx: Transaction, its_id: str, /) -> T | None:
        """Return the one with this id, or `None`."""
        return self.one(tx, self._find, {"this_id": its_id})

    def one(self, tx: Transaction, look: Statement, asked: Mapping[str, object]) -> T | None:
        """Return the first that is found."""
        row = sql(tx).row(look, asked)
        return None if row is None else self._thing(row)

    def many(self, tx: Transaction, look: Statement, asked: Mapping[str, object]) -> Sequence[T]:
        """Return all that are found."""
        return [self._thing(row) for row in sql(tx).rows(look, asked)]

    def _thing(self, row: Row) -> T:
        return self._read(dict(zip(self._names, row, strict=True)))
