"""Projects and roles in SQL: tables of one shape, whose rows hold what is defined as JSON."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Generic, TypeVar

from sqlalchemy import Table, bindparam, delete, insert, select

from quarterdeck.domain.definitions import Defined, same_name
from quarterdeck.domain.projects import Project
from quarterdeck.domain.roles import Role
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.tables import projects_table, roles_table
from quarterdeck.repositories.sql.transaction import Statement, sql, to_micros

D = TypeVar("D", bound=Defined)


class SqlDefinitionRepository(Generic[D]):
    """Implements `DefinitionRepository` on one table."""

    def __init__(self, table: Table, model: type[D]) -> None:
        """Rows of `table` are read as `model`."""
        self._model = model
        self._add = Statement(insert(table))
        columns = table.c.id, table.c.name, table.c.seeded_by, table.c.definition
        self._list = Statement(select(*columns).order_by(table.c.name_folded))
        self._remove = Statement(delete(table).where(table.c.id == bindparam("the_id")))

    def put(self, tx: Transaction, defined: D, now: datetime) -> None:
        """Keep a definition, in place of the one with the same id; no other has its name."""
        row = {
            "id": defined.id,
            "name": defined.name,
            "name_folded": same_name(defined.name),
            "seeded_by": defined.seeded_by,
            "definition": defined.model_dump_json(exclude=set(Defined.model_fields)),
            "updated_at": to_micros(now),
        }
        self.remove(tx, defined.id)
        sql(tx).run(self._add, row)

    def list(self, tx: Transaction) -> Sequence[D]:
        """Return all of them by name, without regard to case."""
        return [self._defined(*row) for row in sql(tx).rows(self._list, {})]

    def remove(self, tx: Transaction, defined_id: str) -> bool:
        """Forget a definition; return whether it was there."""
        return sql(tx).run(self._remove, {"the_id": defined_id}) > 0

    def _defined(self, defined_id: str, name: str, seeded_by: str | None, definition: str) -> D:
        identity = {"id": defined_id, "name": name, "seeded_by": seeded_by}
        return self._model.model_validate({**json.loads(definition), **identity})


class SqlProjectRepository(SqlDefinitionRepository[Project]):
    """Keeps projects."""

    def __init__(self) -> None:
        """Use the table of projects."""
        super().__init__(projects_table, Project)


class SqlRoleRepository(SqlDefinitionRepository[Role]):
    """Keeps roles."""

    def __init__(self) -> None:
        """Use the table of roles."""
        super().__init__(roles_table, Role)
