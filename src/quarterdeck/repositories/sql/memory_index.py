"""The search index of each database: which rows carry all of these tokens, newest first."""

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy import ClauseElement, TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text

from quarterdeck.domain.search import KeyMatch, Tier
from quarterdeck.repositories.sql.transaction import Row, SqlTransaction, Statement

_COLUMNS = "m.namespace, m.key, m.value, m.stored_at, m.place, m.seq"
_IN_NAMESPACE = "(:namespace IS NULL OR m.namespace = :namespace)"


class MemoryIndex(Protocol):
    """One database's way to keep and ask tokens."""

    def next_seq(self, tx: SqlTransaction) -> int:
        """Return a number greater than any a row has ever had."""
        ...

    def add(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Index a row."""
        ...

    def remove(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Forget a row; `tokens` are those it was added with."""
        ...

    def newest(
        self, tx: SqlTransaction, tier: Tier, folded: str, namespace: str | None, limit: int
    ) -> Sequence[Row]:
        """Return the newest rows of a tier: all its tokens, and the query where it says."""
        ...


def _key_tests(position: str) -> dict[KeyMatch, str]:
    """Return each tier's test of the key; `position` finds the query in it, 0 when absent."""
    return {
        KeyMatch.WHOLE: "m.key_folded = :folded",
        KeyMatch.START: f"{position} = 1 AND m.key_folded <> :folded",
        KeyMatch.INSIDE: f"{position} > 1",
        KeyMatch.ABSENT: f"{position} = 0",
    }


class SqliteMemoryIndex:
    """An FTS5 table that stores no text.

    It walks matches from the newest row on, so a common word costs no more than a rare one.
    Its `ascii` tokenizer splits at ASCII punctuation and blanks only, which tokens never have.
    Numbers are never used twice: a token left behind by mistake could only point at nothing.
    """

    _NEXT = Statement(
        text("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory'), 0) + 1")
    )
    _ADD = Statement(text("INSERT INTO memory_tokens(rowid, tokens) VALUES (:seq, :tokens)"))
    _REMOVE = Statement(
        text(
            "INSERT INTO memory_tokens(memory_tokens, rowid, tokens) "
            "VALUES ('delete', :seq, :tokens)"
        )
    )

    def __init__(self) -> None:
        """Statements are compiled once."""
        tests = _key_tests("instr(m.key_folded, :folded)")
        self._by_tokens = {
            match: Statement(
                text(
                    f"SELECT {_COLUMNS} FROM memory_tokens t CROSS JOIN memory m "  # noqa: S608 - parts are constants
                    "ON m.seq = t.rowid WHERE memory_tokens MATCH :tokens "
                    f"AND {test} AND {_IN_NAMESPACE} ORDER BY t.rowid DESC LIMIT :limit"
                )
            )
            for match, test in tests.items()
        }
        self._by_scan = Statement(_scan(tests[KeyMatch.INSIDE]))

    def next_seq(self, tx: SqlTransaction) -> int:
        """Return a number greater than any a row has ever had."""
        row = tx.row(self._NEXT, {})
        assert row is not None, "the statement always has one row"
        return row[0]

    def add(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Index a row."""
        tx.run(self._ADD, {"seq": seq, "tokens": " ".join(tokens)})

    def remove(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Forget a row; a table that stores no text must be told what to take out."""
        tx.run(self._REMOVE, {"seq": seq, "tokens": " ".join(tokens)})

    def newest(
        self, tx: SqlTransaction, tier: Tier, folded: str, namespace: str | None, limit: int
    ) -> Sequence[Row]:
        """Return the newest rows of a tier."""
        params: dict[str, object] = {"folded": folded, "namespace": namespace, "limit": limit}
        if not tier.tokens:
            return tx.rows(self._by_scan, params)
        params["tokens"] = " ".join(f'"{token}"' for token in tier.tokens)
        return tx.rows(self._by_tokens[tier.key_match], params)


class PostgresMemoryIndex:
    """A table of token arrays under a GIN index."""

    _NEXT = Statement(text("SELECT nextval('memory_seq')"))
    _ADD = Statement(
        text("INSERT INTO memory_tokens(seq, tokens) VALUES (:seq, :tokens)").bindparams(
            bindparam("tokens", type_=ARRAY(Text()))
        )
    )
    _REMOVE = Statement(text("DELETE FROM memory_tokens WHERE seq = :seq"))

    def __init__(self) -> None:
        """Statements are compiled once."""
        tests = _key_tests("strpos(m.key_folded, :folded)")
        self._by_tokens = {
            match: Statement(
                _typed(
                    f"SELECT {_COLUMNS} FROM memory_tokens t JOIN memory m USING (seq) "  # noqa: S608 - parts are constants
                    f"WHERE t.tokens @> :tokens AND {test} AND {_IN_NAMESPACE} "
                    "ORDER BY t.seq DESC LIMIT :limit"
                ).bindparams(bindparam("tokens", type_=ARRAY(Text())))
            )
            for match, test in tests.items()
        }
        self._by_scan = Statement(_scan(tests[KeyMatch.INSIDE]))

    def next_seq(self, tx: SqlTransaction) -> int:
        """Return a number greater than any a row has ever had."""
        row = tx.row(self._NEXT, {})
        assert row is not None, "a sequence always answers"
        return row[0]

    def add(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Index a row."""
        tx.run(self._ADD, {"seq": seq, "tokens": list(tokens)})

    def remove(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Forget a row."""
        del tokens
        tx.run(self._REMOVE, {"seq": seq})

    def newest(
        self, tx: SqlTransaction, tier: Tier, folded: str, namespace: str | None, limit: int
    ) -> Sequence[Row]:
        """Return the newest rows of a tier."""
        params: dict[str, object] = {"folded": folded, "namespace": namespace, "limit": limit}
        if not tier.tokens:
            return tx.rows(self._by_scan, params)
        params["tokens"] = list(tier.tokens)
        return tx.rows(self._by_tokens[tier.key_match], params)


def _scan(test: str) -> ClauseElement:
    return _typed(
        f"SELECT {_COLUMNS} FROM memory m WHERE {test} AND {_IN_NAMESPACE} "  # noqa: S608 - parts are constants
        "ORDER BY m.seq DESC LIMIT :limit"
    )


def _typed(statement: str) -> TextClause:
    # PostgreSQL cannot infer the type of a parameter that is only compared with NULL.
    return text(statement).bindparams(
        bindparam("namespace", type_=Text()), bindparam("folded", type_=Text())
    )
