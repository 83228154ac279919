"""Tokens that let clients in, by the hash of their secret."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0002"
down_revision = "0001"


def _big() -> TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _exact() -> TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table, which is empty at first."""
    op.create_table(
        "tokens",
        sa.Column("id", _exact(), primary_key=True),
        sa.Column("name", _exact(), nullable=False),
        sa.Column("hash", _exact(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", _big(), nullable=False),
        sa.Column("expires_at", _big()),
        sa.Column("revoked_at", _big()),
        sa.Column("last_used_at", _big()),
        sqlite_with_rowid=False,
    )
    op.create_index("tokens_hash", "tokens", ["hash"], unique=True)
    living = sa.text("revoked_at IS NULL")
    op.create_index(
        "tokens_living",
        "tokens",
        ["name"],
        unique=True,
        sqlite_where=living,
        postgresql_where=living,
    )
