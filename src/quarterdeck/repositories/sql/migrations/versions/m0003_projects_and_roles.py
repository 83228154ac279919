"""Projects and roles, as files seed them and commands add them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0003"
down_revision = "0002"


def _big() -> TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _exact() -> TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create both tables, which are alike."""
    for table in ("projects", "roles"):
        op.create_table(
            table,
            sa.Column("id", _exact(), primary_key=True),
            sa.Column("name", _exact(), nullable=False),
            sa.Column("name_folded", _exact(), nullable=False),
            sa.Column("seeded_by", _exact()),
            sa.Column("definition", sa.Text(), nullable=False),
            sa.Column("updated_at", _big(), nullable=False),
            sqlite_with_rowid=False,
        )
        op.create_index(f"{table}_name", table, ["name_folded"], unique=True)
