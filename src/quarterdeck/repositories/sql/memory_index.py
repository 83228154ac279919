"""The search index of each database: which rows carry all of these tokens, newest first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text, TypeEngine

from quarterdeck.domain.search import KeyMatch, Tier
from quarterdeck.repositories.sql.transaction import Row, SqlTransaction, Statement

_COLUMNS = "m.namespace, m.key, m.value, m.stored_at, m.place, m.seq"
FEW = 1000
_IN_NAMESPACE = "(:namespace IS NULL OR m.namespace = :namespace)"


@dataclass(frozen=True)
class Spelling:
    """How one database says it.

    `position` finds the query in a key, 0 when it is not there. `few` looks for rows in any
    order, where the database does not walk its index from the newest on.
    """

    next_seq: str
    add: str
    remove: str
    with_tokens: str
    position: str
    token_type: TypeEngine[str] | ARRAY[str]
    stored: Callable[[Sequence[str]], object]
    asked: Callable[[Sequence[str]], object]
    few: str | None = None


# An FTS5 table that stores no text. It walks matches from the newest row on, so a common word
# costs no more than a rare one. Its `ascii` tokenizer splits at ASCII punctuation and blanks only,
# which tokens never have. A table without text must be told which tokens to take out; numbers
# are never used twice, so one left behind by mistake could only point at nothing.
SQLITE_SPELLING = Spelling(
    next_seq="SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory'), 0) + 1",
    add="INSERT INTO memory_tokens(rowid, tokens) VALUES (:seq, :tokens)",
    remove=(
        "INSERT INTO memory_tokens(memory_tokens, rowid, tokens) VALUES ('delete', :seq, :tokens)"
    ),
    with_tokens=(
        "FROM memory_tokens t CROSS JOIN memory m ON m.seq = t.rowid "
        "WHERE memory_tokens MATCH :tokens AND {test} ORDER BY t.rowid DESC"
    ),
    position="instr(m.key_folded, :folded)",
    token_type=Text(),
    stored=" ".join,
    asked=lambda tokens: " ".join(f'"{token}"' for token in tokens),
)

# A table of token arrays under a GIN index. Whether to sort all matches or to walk from the newest
# on is not left to the planner, whose plan for a prepared statement must do for rare and common
# words alike. A look at up to `FEW` matches decides. If there are no more, these
# are tested; else the table is walked from its newest row on, which soon meets enough of them.
POSTGRES_SPELLING = Spelling(
    next_seq="SELECT nextval('memory_seq')",
    add="INSERT INTO memory_tokens(seq, tokens) VALUES (:seq, :tokens)",
    remove="DELETE FROM memory_tokens WHERE seq = :seq AND :tokens IS NOT NULL",
    with_tokens=(
        "FROM memory_tokens t JOIN memory m USING (seq) "
        "WHERE t.tokens @> :tokens AND {test} ORDER BY t.seq DESC"
    ),
    position="strpos(m.key_folded, :folded)",
    token_type=ARRAY(Text()),
    stored=list,
    asked=list,
    few="SELECT seq FROM memory_tokens WHERE tokens @> :tokens LIMIT :few",
)


class MemoryIndex:
    """One database's way to keep and ask tokens."""

    def __init__(self, spelling: Spelling) -> None:
        """`spelling` must be that of the store whose transactions are passed in."""
        self._spelling = spelling
        self._next_seq = Statement(text(spelling.next_seq))
        self._add = Statement(self._typed(spelling.add, "tokens"))
        self._remove = Statement(self._typed(spelling.remove, "tokens"))
        tests = _key_tests(spelling.position)
        self._by_tokens = {match: self._asking(test) for match, test in tests.items()}
        self._by_scan = self._scanning(tests[KeyMatch.INSIDE])
        self._few = None if spelling.few is None else Statement(self._typed(spelling.few, "tokens"))
        self._among = {
            match: self._scanning(f"m.seq = ANY(:found) AND {test}", "found")
            for match, test in tests.items()
        }

    def next_seq(self, tx: SqlTransaction) -> int:
        """Return a number greater than any a row has ever had."""
        row = tx.row(self._next_seq, {})
        assert row is not None, "the statement always has one row"
        return row[0]

    def add(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Index a row."""
        tx.run(self._add, {"seq": seq, "tokens": self._spelling.stored(tokens)})

    def remove(self, tx: SqlTransaction, seq: int, tokens: Sequence[str]) -> None:
        """Forget a row; `tokens` are those it was added with."""
        tx.run(self._remove, {"seq": seq, "tokens": self._spelling.stored(tokens)})

    def newest(
        self, tx: SqlTransaction, tier: Tier, folded: str, namespace: str | None, limit: int
    ) -> Sequence[Row]:
        """Return the newest rows of a tier: all its tokens, and the query where it says."""
        params: dict[str, object] = {"folded": folded, "namespace": namespace, "limit": limit}
        if not tier.tokens:
            return tx.rows(self._by_scan, params)
        params["tokens"] = self._spelling.asked(tier.tokens)
        if self._few is not None:
            found = tx.rows(self._few, {"tokens": params["tokens"], "few": FEW})
            if len(found) < FEW:
                del params["tokens"]
                params["found"] = [seq for (seq,) in found]
                return tx.rows(self._among[tier.key_match], params)
        return tx.rows(self._by_tokens[tier.key_match], params)

    def _asking(self, test: str) -> Statement:
        matching = self._spelling.with_tokens.format(test=f"{test} AND {_IN_NAMESPACE}")
        query = f"SELECT {_COLUMNS} {matching} LIMIT :limit"
        return Statement(self._typed(query, "tokens", "namespace", "folded"))

    def _scanning(self, test: str, *names: str) -> Statement:
        matching = f"FROM memory m WHERE {test} AND {_IN_NAMESPACE} ORDER BY m.seq DESC"
        query = f"SELECT {_COLUMNS} {matching} LIMIT :limit"
        return Statement(self._typed(query, *names, "namespace", "folded"))

    def _typed(self, statement: str, *names: str) -> TextClause:
        # PostgreSQL cannot infer the type of a parameter that is only compared with NULL.
        types = {
            "tokens": self._spelling.token_type,
            "namespace": Text(),
            "folded": Text(),
            "found": ARRAY(BigInteger()),
        }
        return text(statement).bindparams(*(bindparam(name, type_=types[name]) for name in names))


def _key_tests(position: str) -> dict[KeyMatch, str]:
    """Return each tier's test of the key."""
    # No equality with a position: PostgreSQL takes one for rare, and would rather sort all rows
    # that have a common word than walk from the newest on.
    starts = f"{position} > 0 AND NOT {position} > 1"
    return {
        KeyMatch.WHOLE: "m.key_folded = :folded",
        KeyMatch.START: f"{starts} AND m.key_folded <> :folded",
        KeyMatch.INSIDE: f"{position} > 1",
        KeyMatch.ABSENT: f"NOT {position} > 0",
    }
