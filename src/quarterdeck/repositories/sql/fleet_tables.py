"""Tables of the fleet: agents, their tasks, logs and questions, and commands between daemons."""

from sqlalchemy import Column, Index, Integer, Table, Text

from quarterdeck.repositories.sql.columns import big, exact, metadata

# Of those that were not deleted, no two have the same name. A name is free again once the
# deletion is accepted, which is when `released_at` is set.
agents_table = Table(
    "agents",
    metadata,
    Column("id", exact(), primary_key=True),
    Column("name", Text(), nullable=False),
    Column("name_folded", exact(), nullable=False),
    Column("runtime", Text(), nullable=False),
    Column("project_id", exact(), nullable=False),
    Column("project", Text(), nullable=False),
    Column("role_id", exact(), nullable=False),
    Column("role", Text(), nullable=False),
    Column("status", Text(), nullable=False),
    Column("reason", Text()),
    Column("node_id", exact(), nullable=False),
    Column("daemon_id", exact(), nullable=False),
    Column("workspace_id", exact(), nullable=False),
    Column("workspace", Text()),
    Column("conversation", Text()),
    Column("last_task", Text()),
    Column("last_report", Text()),
    Column("usage", Text(), nullable=False),
    Column("created_at", big(), nullable=False),
    Column("updated_at", big(), nullable=False),
    Column("released_at", big()),
    Column("deleted_at", big()),
    sqlite_with_rowid=False,
)
Index(
    "agents_living",
    agents_table.c.name_folded,
    unique=True,
    sqlite_where=agents_table.c.released_at.is_(None),
    postgresql_where=agents_table.c.released_at.is_(None),
)
Index("agents_name", agents_table.c.name_folded, agents_table.c.id)

# Ids sort by time, so the newest task of an agent is at the end of its index.
tasks_table = Table(
    "tasks",
    metadata,
    Column("id", exact(), primary_key=True),
    Column("agent_id", exact(), nullable=False),
    Column("daemon_id", exact(), nullable=False),
    Column("message", Text(), nullable=False),
    Column("state", Text(), nullable=False),
    Column("created_at", big(), nullable=False),
    Column("started_at", big()),
    Column("ended_at", big()),
    Column("result", Text()),
    Column("uri", Text()),
    Column("stop_reason", Text()),
    Column("branch", Text()),
    Column("commits", Text(), nullable=False),
    Column("files", Text(), nullable=False),
    Column("usage", Text(), nullable=False),
    Column("verdict", Text()),
    Index("tasks_agent", "agent_id", "id"),
    sqlite_with_rowid=False,
)
Index(
    "tasks_open",
    tasks_table.c.agent_id,
    tasks_table.c.id,
    sqlite_where=tasks_table.c.ended_at.is_(None),
    postgresql_where=tasks_table.c.ended_at.is_(None),
)

agent_log_table = Table(
    "agent_log",
    metadata,
    Column("agent_id", exact(), primary_key=True),
    Column("seq", big(), primary_key=True, autoincrement=False),
    Column("task_id", exact()),
    Column("at", big(), nullable=False),
    Column("level", Text(), nullable=False),
    Column("role", Text(), nullable=False),
    Column("kind", Text(), nullable=False),
    Column("message", Text(), nullable=False),
    Column("size", Integer(), nullable=False),
    sqlite_with_rowid=False,
)

questions_table = Table(
    "questions",
    metadata,
    Column("id", exact(), primary_key=True),
    Column("agent_id", exact(), nullable=False),
    Column("agent_name", Text(), nullable=False),
    Column("daemon_id", exact(), nullable=False),
    Column("task_id", exact()),
    Column("title", Text(), nullable=False),
    Column("tool_kind", Text(), nullable=False),
    Column("paths", Text(), nullable=False),
    Column("options", Text(), nullable=False),
    Column("default_id", Text()),
    Column("asked_at", big(), nullable=False),
    Column("deadline", big(), nullable=False),
    Column("state", Text(), nullable=False),
    Column("option_id", Text()),
    Column("answered_by", Text()),
    Column("answered_at", big()),
    Index("questions_agent", "agent_id", "id"),
    sqlite_with_rowid=False,
)
Index(
    "questions_open",
    questions_table.c.id,
    sqlite_where=questions_table.c.answered_at.is_(None),
    postgresql_where=questions_table.c.answered_at.is_(None),
)

# What one daemon asks of another, which runs the agent it is about.
commands_table = Table(
    "commands",
    metadata,
    Column("id", exact(), primary_key=True),
    Column("to_daemon", exact(), nullable=False),
    Column("name", Text(), nullable=False),
    Column("arguments", Text(), nullable=False),
    Column("asked_at", big(), nullable=False),
    Column("deadline", big(), nullable=False),
    Column("taken_at", big()),
    Column("answer", Text()),
    Column("error", Text()),
    sqlite_with_rowid=False,
)
Index(
    "commands_waiting",
    commands_table.c.to_daemon,
    sqlite_where=commands_table.c.taken_at.is_(None),
    postgresql_where=commands_table.c.taken_at.is_(None),
)
