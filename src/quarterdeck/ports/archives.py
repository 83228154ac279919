"""Backups as one file, and the way back."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from quarterdeck.domain.archive import BackupResponse, RestorePlan
from quarterdeck.ports.store import Transaction

# What is being done, how much of it is done, and how much there is. It may raise to stop.
Progress = Callable[[str, int, int], None]
# Closes the traces that a process left open in the database that is about to be restored.
CloseTraces = Callable[[Transaction, str], None]


class CheckedArchive(Protocol):
    """An archive that was found sound, unpacked beside the home and brought to our revision."""

    def plan(self, *, database_only: bool) -> RestorePlan:
        """Return what restoring it would replace, as things are now."""
        ...

    def restore(self, close: CloseTraces, progress: Progress, *, database_only: bool) -> Path:
        """Replace the present state; return where a backup of it is.

        The database is replaced in one transaction: others see the old state or the new one.
        The home's files follow, each at once.

        Raises:
            CannotWrite: There is no room, or the home cannot be written to.
            StorageUnavailable: The database cannot be reached, or is in use all the time.
        """
        ...

    def discard(self) -> None:
        """Remove what was unpacked."""
        ...


class Archives(Protocol):
    """Makes archives of the home's state and reads them."""

    def write(
        self, target: Path | None, progress: Progress, *, with_secrets: bool
    ) -> BackupResponse:
        """Write an archive to `target`, or to a new name among the home's backups.

        It is a snapshot: others may write meanwhile. Nothing is left behind when it fails.

        Raises:
            Conflict: There is a file of that name.
            CannotWrite: There is no room, or the place cannot be written to.
        """
        ...

    def check(self, file: Path, progress: Progress) -> CheckedArchive:
        """Unpack an archive beside the home after checking all of it.

        Raises:
            NotFound: There is no such file.
            InvalidArchive: It is damaged, or holds what an archive must not.
            ArchiveAhead: A newer program made it.
        """
        ...
