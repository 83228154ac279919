"""Questions in SQL."""

import json
from collections.abc import Sequence

from pydantic import TypeAdapter
from sqlalchemy import Integer, bindparam, insert, select, update

from quarterdeck.domain.questions import Option, Question, QuestionState
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import questions_table
from quarterdeck.repositories.sql.transaction import (
    Row,
    Statement,
    from_micros,
    read_moment,
    sql,
    stored_moment,
    to_micros,
)

t = questions_table
_OPTIONS = TypeAdapter(tuple[Option, ...])
_THIS = t.c.id == bindparam("the_question")

_ADD = Statement(insert(t))
_SAVE = Statement(
    update(t)
    .where(_THIS)
    .values({column.name: bindparam(column.name) for column in t.c if column.name != "id"})
)
_FIND = Statement(select(t).where(_THIS))
_OPEN = Statement(select(t).where(t.c.answered_at.is_(None)).order_by(t.c.id))
_OF_AGENT = Statement(
    select(t)
    .where(t.c.agent_id == bindparam("of_agent"))
    .order_by(t.c.id.desc())
    .limit(bindparam("limit", type_=Integer))
)


class SqlQuestionRepository:
    """Implements `QuestionRepository`."""

    def add(self, tx: Transaction, question: Question) -> None:
        """Keep a new question."""
        sql(tx).run(_ADD, {"id": question.id, **_values(question)})

    def save(self, tx: Transaction, question: Question) -> None:
        """Write a question over itself, after it was found in the same transaction."""
        sql(tx).run(_SAVE, {"the_question": question.id, **_values(question)})

    def find(self, tx: Transaction, question_id: str) -> Question | None:
        """Return the question with this id, or `None`."""
        row = sql(tx).row(_FIND, {"the_question": question_id})
        return None if row is None else _question(row)

    def open(self, tx: Transaction) -> Sequence[Question]:
        """Return the questions that wait for an answer, oldest first."""
        return [_question(row) for row in sql(tx).rows(_OPEN, {})]

    def of(self, tx: Transaction, agent_id: str, limit: int) -> Sequence[Question]:
        """Return questions of an agent, newest first."""
        asked = {"of_agent": agent_id, "limit": limit}
        return [_question(row) for row in sql(tx).rows(_OF_AGENT, asked)]


def _values(question: Question) -> dict[str, object]:
    return {
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


def _question(row: Row) -> Question:
    got = dict(zip(t.c.keys(), row, strict=True))
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
