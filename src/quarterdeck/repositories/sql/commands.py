"""Commands between daemons, in SQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, select, update

from quarterdeck.ports.fleet import Command
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import commands_table
from quarterdeck.repositories.sql.transaction import (
    Row,
    Statement,
    from_micros,
    read_moment,
    sql,
    stored_moment,
    to_micros,
)

t = commands_table
_THIS = t.c.id == bindparam("the_command")

_ADD = Statement(insert(t))
_FIND = Statement(select(t).where(_THIS))
_WAITING = Statement(
    select(t)
    .where(t.c.to_daemon == bindparam("daemon_id"), t.c.taken_at.is_(None))
    .order_by(t.c.id)
)
_TAKE = Statement(update(t).where(_THIS, t.c.taken_at.is_(None)).values(taken_at=bindparam("now")))
_FINISH = Statement(
    update(t).where(_THIS).values(answer=bindparam("answer"), error=bindparam("error"))
)
_REMOVE = Statement(delete(t).where(_THIS))
_PRUNE = Statement(delete(t).where(t.c.deadline < bindparam("before", type_=t.c.deadline.type)))


class SqlCommandRepository:
    """Implements `CommandRepository`."""

    def add(self, tx: Transaction, command: Command) -> None:
        """Ask."""
        row = {
            "id": command.id,
            "to_daemon": command.to_daemon,
            "name": command.name,
            "arguments": command.arguments,
            "asked_at": to_micros(command.asked_at),
            "deadline": to_micros(command.deadline),
            "taken_at": stored_moment(command.taken_at),
            "answer": command.answer,
            "error": command.error,
        }
        sql(tx).run(_ADD, row)

    def find(self, tx: Transaction, command_id: str) -> Command | None:
        """Return a command, or `None`."""
        row = sql(tx).row(_FIND, {"the_command": command_id})
        return None if row is None else _command(row)

    def waiting(self, tx: Transaction, daemon_id: str) -> Sequence[Command]:
        """Return what a daemon is asked for and has not taken up, oldest first."""
        return [_command(row) for row in sql(tx).rows(_WAITING, {"daemon_id": daemon_id})]

    def take(self, tx: Transaction, command_id: str, now: datetime) -> bool:
        """Take a command up; return whether nobody had done so."""
        return sql(tx).run(_TAKE, {"the_command": command_id, "now": to_micros(now)}) > 0

    def finish(
        self, tx: Transaction, command_id: str, answer: str | None, error: str | None
    ) -> None:
        """Answer."""
        sql(tx).run(_FINISH, {"the_command": command_id, "answer": answer, "error": error})

    def remove(self, tx: Transaction, command_id: str) -> None:
        """Forget a command, answered or not."""
        sql(tx).run(_REMOVE, {"the_command": command_id})

    def prune(self, tx: Transaction, before: datetime) -> None:
        """Forget what nobody has waited for since."""
        sql(tx).run(_PRUNE, {"before": to_micros(before)})


def _command(row: Row) -> Command:
    command_id, to_daemon, name, arguments, asked_at, deadline, taken_at, answer, error = row
    return Command(
        id=command_id,
        to_daemon=to_daemon,
        name=name,
        arguments=arguments,
        asked_at=from_micros(asked_at),
        deadline=from_micros(deadline),
        taken_at=read_moment(taken_at),
        answer=answer,
        error=error,
    )
