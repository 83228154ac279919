"""Agents in SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Integer, bindparam, delete, literal_column, select

from quarterdeck.domain.agents import RELEASED, Agent, AgentStatus
from quarterdeck.domain.tasks import Usage
from quarterdeck.domain.workspaces import Workspace
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.by_id import ById
from quarterdeck.repositories.sql.tables import (
    agent_log_table,
    agents_table,
    questions_table,
    tasks_table,
)
from quarterdeck.repositories.sql.transaction import (
    Statement,
    from_micros,
    read_moment,
    sql,
    stored_moment,
    to_micros,
)

t = agents_table
_NAMED = t.c.name_folded == bindparam("folded")
_ONE = literal_column("1", Integer)

_FIND_LIVING = Statement(select(t).where(_NAMED, t.c.released_at.is_(None)))
_FIND_RELEASED = Statement(select(t).where(_NAMED).order_by(t.c.id.desc()).limit(_ONE))
_LIST = Statement(select(t).where(t.c.deleted_at.is_(None)).order_by(t.c.id.desc()))
_LIST_STATUS = Statement(select(t).where(t.c.status == bindparam("status")).order_by(t.c.id.desc()))
_REMOVE = [
    Statement(delete(table).where(column == bindparam("the_agent")))
    for table, column in (
        (agent_log_table, agent_log_table.c.agent_id),
        (questions_table, questions_table.c.agent_id),
        (tasks_table, tasks_table.c.agent_id),
        (t, t.c.id),
    )
]


class SqlAgentRepository(ById[Agent]):
    """Implements `AgentRepository`."""

    def __init__(self) -> None:
        super().__init__(t, _stored, _agent)

    def find_named(self, tx: Transaction, name: str) -> Agent | None:
        """Return the living agent of this name, whatever its case; else the one deleted last."""
        folded = {"folded": name.casefold()}
        return self.one(tx, _FIND_LIVING, folded) or self.one(tx, _FIND_RELEASED, folded)

    def list(self, tx: Transaction, status: AgentStatus | None = None) -> Sequence[Agent]:
        """Return agents, newest first; deleted ones only when they are asked for."""
        if status is None:
            return self.many(tx, _LIST, {})
        return self.many(tx, _LIST_STATUS, {"status": status.value})

    def remove(self, tx: Transaction, agent_id: str) -> None:
        """Forget an agent with its tasks, log and questions."""
        for statement in _REMOVE:
            sql(tx).run(statement, {"the_agent": agent_id})


def _stored(agent: Agent) -> dict[str, object]:
    workspace = agent.workspace
    released = agent.updated_at if agent.status in RELEASED else None
    return {
        "id": agent.id,
        "name": agent.name,
        "name_folded": agent.name.casefold(),
        "runtime": agent.runtime,
        "project_id": agent.project_id,
        "project": agent.project,
        "role_id": agent.role_id,
        "role": agent.role,
        "status": agent.status.value,
        "reason": agent.reason,
        "node_id": agent.node_id,
        "daemon_id": agent.daemon_id,
        "workspace_id": agent.workspace_id,
        "workspace": None if workspace is None else workspace.model_dump_json(),
        "conversation": agent.conversation,
        "last_task": agent.last_task,
        "last_report": agent.last_report,
        "usage": agent.usage.model_dump_json(),
        "created_at": to_micros(agent.created_at),
        "updated_at": to_micros(agent.updated_at),
        "released_at": stored_moment(released),
        "deleted_at": stored_moment(agent.deleted_at),
    }


def _agent(got: Mapping[str, Any]) -> Agent:
    workspace = got["workspace"]
    return Agent(
        id=got["id"],
        name=got["name"],
        runtime=got["runtime"],
        project_id=got["project_id"],
        project=got["project"],
        role_id=got["role_id"],
        role=got["role"],
        status=AgentStatus(got["status"]),
        reason=got["reason"],
        node_id=got["node_id"],
        daemon_id=got["daemon_id"],
        workspace_id=got["workspace_id"],
        workspace=None if workspace is None else Workspace.model_validate_json(workspace),
        conversation=got["conversation"],
        last_task=got["last_task"],
        last_report=got["last_report"],
        usage=Usage.model_validate_json(got["usage"]),
        created_at=from_micros(got["created_at"]),
        updated_at=from_micros(got["updated_at"]),
        deleted_at=read_moment(got["deleted_at"]),
    )
