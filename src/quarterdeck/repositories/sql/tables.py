"""The tables, as both databases have them. Times are microseconds since 1970, in UTC.

`memory_tokens` is the search index of `memory`: on SQLite a full-text table, on PostgreSQL a
table of token arrays (see `memory_index.py`); the first migration creates it.
"""

from sqlalchemy import Column, Index, Integer, Table, Text, literal_column

from quarterdeck.repositories.sql.columns import big, exact, metadata
from quarterdeck.repositories.sql.fleet_tables import (
    agent_log_table,
    agents_table,
    commands_table,
    questions_table,
    tasks_table,
)

__all__ = [
    "agent_log_table",
    "agents_table",
    "commands_table",
    "daemons_table",
    "memory_table",
    "metadata",
    "questions_table",
    "tasks_table",
    "tokens_table",
    "traces_table",
]

memory_table = Table(
    "memory",
    metadata,
    Column("seq", big(), primary_key=True, autoincrement=False),
    Column("place", big(), nullable=False),
    Column("namespace", exact(), nullable=False),
    Column("key", exact(), nullable=False),
    Column("key_folded", exact(), nullable=False),
    Column("value", Text(), nullable=False),
    Column("stored_at", big(), nullable=False),
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
    Column("trace_id", exact(), primary_key=True),
    Column("parent_id", exact()),
    Column("workflow_id", Text(), nullable=False),
    Column("operation", Text()),
    Column("surface", Text(), nullable=False),
    Column("actor", Text(), nullable=False),
    Column("daemon_id", exact(), nullable=False),
    Column("status", Text(), nullable=False),
    Column("started_at", big(), nullable=False),
    Column("ended_at", big()),
    Column("duration_us", big(), nullable=False),
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
    Column("daemon_id", exact(), primary_key=True),
    Column("node_id", exact(), nullable=False),
    Column("started_at", big(), nullable=False),
    Column("host", Text(), nullable=False, server_default=""),
    Column("seen_at", big(), nullable=False, server_default="0"),
    sqlite_with_rowid=False,
)

# Of a secret only its hash is kept. Of those that were not revoked, no two have the same name.
tokens_table = Table(
    "tokens",
    metadata,
    Column("id", exact(), primary_key=True),
    Column("name", exact(), nullable=False),
    Column("hash", exact(), nullable=False),
    Column("scopes", Text(), nullable=False),
    Column("created_at", big(), nullable=False),
    Column("expires_at", big()),
    Column("revoked_at", big()),
    Column("last_used_at", big()),
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
        Column("id", exact(), primary_key=True),
        Column("name", exact(), nullable=False),
        Column("name_folded", exact(), nullable=False),
        Column("seeded_by", exact()),
        Column("definition", Text(), nullable=False),
        Column("updated_at", big(), nullable=False),
        Index(f"{name}_name", "name_folded", unique=True),
        sqlite_with_rowid=False,
    )


projects_table = _definitions("projects")
roles_table = _definitions("roles")
