"""The database as the person who keeps it sees it: where it is, how far, how well."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

DatabaseState = Literal["new", "behind", "current", "ahead"]


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    """`place` has no password in it; `revision` is `None` as long as nothing is stored."""

    kind: Literal["sqlite", "postgresql"]
    place: str
    state: DatabaseState
    revision: str | None
    needed: str


class Database(Protocol):
    """Looks at a database, and upgrades it, without opening it for work."""

    def status(self) -> DatabaseStatus:
        """Return how far the database is; nothing is created or changed.

        Raises:
            StorageUnavailable: It cannot be reached, or is no database.
        """
        ...

    def upgrade(self) -> None:
        """Bring the database to this program's revision, creating what is missing.

        Raises:
            DatabaseAhead: A newer program has been here.
        """
        ...

    def stored_bytes(self) -> int:
        """Return how much room the database takes.

        Raises:
            StorageUnavailable: It cannot be reached.
        """
        ...

    def problems(self) -> Sequence[str]:
        """Return what a check of the stored pages finds wrong."""
        ...
