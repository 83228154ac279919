"""The tables, as both databases have them. Times are microseconds since 1970, in UTC.

`memory_tokens` is the search index of `memory`: on SQLite a full-text table, on PostgreSQL a
table of token arrays (see `memory_index.py`); the first migration creates it.
"""

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, Table, Text, literal_column
from sqlalchemy.types import TypeEngine

metadata = MetaData()


def _big() -> TypeEngine[int]:
    # SQLite's row id must be declared INTEGER; it is 64 bits wide all the same.
    return BigInteger().with_variant(Integer(), "sqlite")


def _exact() -> TypeEngine[str]:
    # Byte order on both databases: `prefix` is case-sensitive and ranges follow code points.
    return Text().with_variant(Text(collation="C"), "postgresql")


memory_table = Table(
    "memory",
    metadata,
    Column("seq", _big(), primary_key=True, autoincrement=False),
    Column("place", _big(), nullable=False),
    Column("namespace", _exact(), nullable=False),
    Column("key", _exact(), nullable=False),
    Column("key_folded", _exact(), nullable=False),
    Column("value", Text(), nullable=False),
    Column("stored_at", _big(), nullable=False),
    Index("memory_name", "namespace", "key", unique=True),
    Index("memory_place", "place", unique=True),
    sqlite_autoincrement=True,
)

# One row a trace, because a row costs more than its bytes: four rows of events took as long as
# the rest of a tool call. `events` has one JSON document a line, so that more can be appended.
# Ids sort by time, so the newest traces are at the end of the primary key.
traces_table = Table(
    "traces",
    metadata,
    Column("trace_id", _exact(), primary_key=True),
    Column("parent_id", _exact()),
    Column("workflow_id", Text(), nullable=False),
    Column("operation", Text()),
    Column("surface", Text(), nullable=False),
    Column("actor", Text(), nullable=False),
    Column("daemon_id", _exact(), nullable=False),
    Column("status", Text(), nullable=False),
    Column("started_at", _big(), nullable=False),
    Column("ended_at", _big()),
    Column("duration_us", _big(), nullable=False),
    Column("event_count", Integer(), nullable=False),
    Column("events", Text(), nullable=False),
)
Index(
    "traces_not_successful",
    traces_table.c.status,
    traces_table.c.trace_id,
    sqlite_where=traces_table.c.status != literal_column("'success'"),
    postgresql_where=traces_table.c.status != literal_column("'success'"),
)
Index(
    "traces_children",
    traces_table.c.parent_id,
    sqlite_where=traces_table.c.parent_id.is_not(None),
    postgresql_where=traces_table.c.parent_id.is_not(None),
)
Index(
    "traces_open",
    traces_table.c.daemon_id,
    sqlite_where=traces_table.c.ended_at.is_(None),
    postgresql_where=traces_table.c.ended_at.is_(None),
)

daemons_table = Table(
    "daemons",
    metadata,
    Column("daemon_id", _exact(), primary_key=True),
    Column("node_id", _exact(), nullable=False),
    Column("started_at", _big(), nullable=False),
    sqlite_with_rowid=False,
)

# Of a secret only its hash is kept. Of those that were not revoked, no two have the same name.
tokens_table = Table(
    "tokens",
    metadata,
    Column("id", _exact(), primary_key=True),
    Column("name", _exact(), nullable=False),
    Column("hash", _exact(), nullable=False),
    Column("scopes", Text(), nullable=False),
    Column("created_at", _big(), nullable=False),
    Column("expires_at", _big()),
    Column("revoked_at", _big()),
    Column("last_used_at", _big()),
    Index("tokens_hash", "hash", unique=True),
    sqlite_with_rowid=False,
)
Index(
    "tokens_living",
    tokens_table.c.name,
    unique=True,
    sqlite_where=tokens_table.c.revoked_at.is_(None),
    postgresql_where=tokens_table.c.revoked_at.is_(None),
)


def _definitions(name: str) -> Table:
    # What is defined is JSON: it is read as a whole, and grows with the product.
    return Table(
        name,
        metadata,
        Column("id", _exact(), primary_key=True),
        Column("name", _exact(), nullable=False),
        Column("name_folded", _exact(), nullable=False),
        Column("seeded_by", _exact()),
        Column("definition", Text(), nullable=False),
        Column("updated_at", _big(), nullable=False),
        Index(f"{name}_name", "name_folded", unique=True),
        sqlite_with_rowid=False,
    )


projects_table = _definitions("projects")
roles_table = _definitions("roles")
