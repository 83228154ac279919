"""Memory with its search index, traces with their events, and the processes that own rows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None


def _big() -> TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _exact() -> TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create everything the first version keeps."""
    _create_memory()
    _create_traces()
    op.create_table(
        "daemons",
        sa.Column("daemon_id", _exact(), primary_key=True),
        sa.Column("node_id", _exact(), nullable=False),
        sa.Column("started_at", _big(), nullable=False),
        sqlite_with_rowid=False,
    )


def _create_memory() -> None:
    op.create_table(
        "memory",
        sa.Column("seq", _big(), primary_key=True, autoincrement=False),
        sa.Column("place", _big(), nullable=False),
        sa.Column("namespace", _exact(), nullable=False),
        sa.Column("key", _exact(), nullable=False),
        sa.Column("key_folded", _exact(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("stored_at", _big(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("memory_name", "memory", ["namespace", "key"], unique=True)
    op.create_index("memory_place", "memory", ["place"], unique=True)
    if op.get_bind().dialect.name == "sqlite":
        # No text and no positions: rows are only ever asked for by whole tokens.
        op.execute(
            "CREATE VIRTUAL TABLE memory_tokens USING fts5("
            "tokens, content='', columnsize=0, detail=none, tokenize='ascii')"
        )
    else:
        op.execute("CREATE SEQUENCE memory_seq")
        op.execute("CREATE TABLE memory_tokens (seq bigint PRIMARY KEY, tokens text[] NOT NULL)")
        op.execute("CREATE INDEX memory_tokens_all ON memory_tokens USING gin (tokens)")


def _create_traces() -> None:
    op.create_table(
        "traces",
        sa.Column("trace_id", _exact(), primary_key=True),
        sa.Column("parent_id", _exact()),
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text()),
        sa.Column("surface", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("daemon_id", _exact(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_at", _big(), nullable=False),
        sa.Column("ended_at", _big()),
        sa.Column("duration_us", _big(), nullable=False),
        sa.Column("event_count", sa.Integer(), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
    )
    _create_partial_index("traces_not_successful", ["status", "trace_id"], "status != 'success'")
    _create_partial_index("traces_children", ["parent_id"], "parent_id IS NOT NULL")
    _create_partial_index("traces_open", ["daemon_id"], "ended_at IS NULL")


def _create_partial_index(name: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, "traces", columns, sqlite_where=condition, postgresql_where=condition)
