"""Agents, their tasks, logs and questions; commands between daemons, and when each was seen."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0004"
down_revision = "0003"


def _big() -> TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _exact() -> TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables, which are empty at first."""
    _create_agents()
    _create_tasks()
    _create_log()
    _create_questions()
    _create_commands()
    op.add_column("daemons", sa.Column("host", sa.Text(), nullable=False, server_default=""))
    op.add_column("daemons", sa.Column("seen_at", _big(), nullable=False, server_default="0"))


def _create_agents() -> None:
    op.create_table(
        "agents",
        sa.Column("id", _exact(), primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_folded", _exact(), nullable=False),
        sa.Column("runtime", sa.Text(), nullable=False),
        sa.Column("project_id", _exact(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("role_id", _exact(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("node_id", _exact(), nullable=False),
        sa.Column("daemon_id", _exact(), nullable=False),
        sa.Column("workspace_id", _exact(), nullable=False),
        sa.Column("workspace", sa.Text()),
        sa.Column("conversation", sa.Text()),
        sa.Column("last_task", sa.Text()),
        sa.Column("last_report", sa.Text()),
        sa.Column("usage", sa.Text(), nullable=False),
        sa.Column("created_at", _big(), nullable=False),
        sa.Column("updated_at", _big(), nullable=False),
        sa.Column("released_at", _big()),
        sa.Column("deleted_at", _big()),
        sqlite_with_rowid=False,
    )
    living = sa.text("released_at IS NULL")
    op.create_index(
        "agents_living",
        "agents",
        ["name_folded"],
        unique=True,
        sqlite_where=living,
        postgresql_where=living,
    )
    op.create_index("agents_name", "agents", ["name_folded", "id"])


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", _exact(), primary_key=True),
        sa.Column("agent_id", _exact(), nullable=False),
        sa.Column("daemon_id", _exact(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", _big(), nullable=False),
        sa.Column("started_at", _big()),
        sa.Column("ended_at", _big()),
        sa.Column("result", sa.Text()),
        sa.Column("uri", sa.Text()),
        sa.Column("stop_reason", sa.Text()),
        sa.Column("branch", sa.Text()),
        sa.Column("commits", sa.Text(), nullable=False),
        sa.Column("files", sa.Text(), nullable=False),
        sa.Column("usage", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text()),
        sqlite_with_rowid=False,
    )
    op.create_index("tasks_agent", "tasks", ["agent_id", "id"])
    unended = sa.text("ended_at IS NULL")
    op.create_index(
        "tasks_open",
        "tasks",
        ["agent_id", "id"],
        sqlite_where=unended,
        postgresql_where=unended,
    )


def _create_log() -> None:
    op.create_table(
        "agent_log",
        sa.Column("agent_id", _exact(), primary_key=True),
        sa.Column("seq", _big(), primary_key=True, autoincrement=False),
        sa.Column("task_id", _exact()),
        sa.Column("at", _big(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sqlite_with_rowid=False,
    )


def _create_questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", _exact(), primary_key=True),
        sa.Column("agent_id", _exact(), nullable=False),
        sa.Column("agent_name", sa.Text(), nullable=False),
        sa.Column("daemon_id", _exact(), nullable=False),
        sa.Column("task_id", _exact()),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("tool_kind", sa.Text(), nullable=False),
        sa.Column("paths", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("default_id", sa.Text()),
        sa.Column("asked_at", _big(), nullable=False),
        sa.Column("deadline", _big(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("option_id", sa.Text()),
        sa.Column("answered_by", sa.Text()),
        sa.Column("answered_at", _big()),
        sqlite_with_rowid=False,
    )
    op.create_index("questions_agent", "questions", ["agent_id", "id"])
    unanswered = sa.text("answered_at IS NULL")
    op.create_index(
        "questions_open",
        "questions",
        ["id"],
        sqlite_where=unanswered,
        postgresql_where=unanswered,
    )


def _create_commands() -> None:
    op.create_table(
        "commands",
        sa.Column("id", _exact(), primary_key=True),
        sa.Column("to_daemon", _exact(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("asked_at", _big(), nullable=False),
        sa.Column("deadline", _big(), nullable=False),
        sa.Column("taken_at", _big()),
        sa.Column("answer", sa.Text()),
        sa.Column("error", sa.Text()),
        sqlite_with_rowid=False,
    )
    waiting = sa.text("taken_at IS NULL")
    op.create_index(
        "commands_waiting",
        "commands",
        ["to_daemon"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
