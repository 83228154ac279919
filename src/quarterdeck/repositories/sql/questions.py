"""Questions in SQL."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import select

from quarterdeck.domain.questions import Option, Question, QuestionState
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.by_id import ById
from quarterdeck.repositories.sql.tables import questions_table
from quarterdeck.repositories.sql.transaction import (
    Statement,
    from_micros,
    read_moment,
    stored_moment,
    to_micros,
)

t = questions_table
_OPTIONS = TypeAdapter(tuple[Option, ...])

_OPEN = Statement(select(t).where(t.c.answered_at.is_(None)).order_by(t.c.id))


class SqlQuestionRepository(ById[Question]):
    """Implements `QuestionRepository`."""

    def __init__(self) -> None:
        super().__init__(t, _stored, _question)

    def open(self, tx: Transaction) -> Sequence[Question]:
        """Return the questions that wait for an answer, oldest first."""
        return self.many(tx, _OPEN, {})


def _stored(question: Question) -> dict[str, object]:
    return {
        "id": question.id,
        "agent_id": question.agent_id,
        "agent_name": question.agent_name,
        "daemon_id": question.daemon_id,
        "task_id": question.task_id,
        "title": question.title,
        "tool_kind": question.tool_kind,
        "paths": json.dumps(question.paths),
        "options": _OPTIONS.dump_json(question.options).decode(),
        "default_id": question.default,
        "asked_at": to_micros(question.asked_at),
        "deadline": to_micros(question.deadline),
        "state": question.state.value,
        "option_id": question.option_id,
        "answered_by": question.answered_by,
        "answered_at": stored_moment(question.answered_at),
    }


def _question(got: Mapping[str, Any]) -> Question:
    return Question(
        id=got["id"],
        agent_id=got["agent_id"],
        agent_name=got["agent_name"],
        daemon_id=got["daemon_id"],
        task_id=got["task_id"],
        title=got["title"],
        tool_kind=got["tool_kind"],
        paths=tuple(json.loads(got["paths"])),
        options=_OPTIONS.validate_json(got["options"]),
        default=got["default_id"],
        asked_at=from_micros(got["asked_at"]),
        deadline=from_micros(got["deadline"]),
        state=QuestionState(got["state"]),
        option_id=got["option_id"],
        answered_by=got["answered_by"],
        answered_at=read_moment(got["answered_at"]),
    )
