"""Agents as they are shown: what is stored, what their workspace says, what they wait for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.fleet_answers import (
    AgentDetail,
    AgentRow,
    FieldDetail,
    FieldSchema,
    OpenQuestion,
)
from quarterdeck.domain.metadata import MetadataField
from quarterdeck.domain.questions import Question
from quarterdeck.domain.tasks import Usage

Metadata = Mapping[str, MetadataField]


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known of an agent now; `metadata` is `None` when it was not asked for."""

    agent: Agent
    question: Question | None = None
    metadata: Metadata | None = None
    unavailable: str | None = None


def row_of(sight: Sight) -> AgentRow:
    """Return an agent as one of many."""
    fields = sight.metadata or {}
    listed = {name: each.value for name, each in fields.items() if each.include_in_list}
    return AgentRow(**_shared(sight), metadata_count=len(fields), metadata=listed)


def detail_of(sight: Sight) -> AgentDetail:
    """Return an agent with all that is known of it."""
    agent, fields = sight.agent, sight.metadata or {}
    workspace = agent.workspace
    return AgentDetail(
        **_shared(sight),
        metadata_count=len(fields),
        metadata={name: _detail(each) for name, each in fields.items()},
        runtime=agent.runtime,
        branch=workspace.branch if workspace else None,
        workspace=workspace.path if workspace else None,
    )


def open_question(question: Question | None) -> OpenQuestion | None:
    """Return what an agent waits for."""
    if question is None:
        return None
    return OpenQuestion(question_id=question.id, title=question.title, deadline=question.deadline)


def _shared(sight: Sight) -> dict[str, Any]:
    agent = sight.agent
    is_lost = sight.unavailable is not None and agent.status is not AgentStatus.DELETED
    return {
        "name": agent.name,
        "status": agent.status,
        "role": agent.role,
        "project": agent.project,
        "last_task": agent.last_task,
        "created_at": agent.created_at,
        "updated_at": agent.updated_at,
        "workspace_id": agent.workspace_id,
        "metadata_skipped": True if sight.metadata is None else None,
        "last_report": agent.last_report,
        "waiting_for": open_question(sight.question),
        "unavailable": sight.unavailable if is_lost else None,
        "reason": agent.reason,
        "usage": agent.usage if agent.usage != Usage() else None,
    }


def _detail(each: MetadataField) -> FieldDetail:
    schema = FieldSchema(description=each.description, include_in_list=each.include_in_list)
    return FieldDetail(value=each.value, error=each.error, schema=schema)
