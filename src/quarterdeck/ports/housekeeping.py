"""What lies in the home and may belong to nobody any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Folder:
    """A workspace, or what is left of one; `work` says what in it must not be lost, if anything.

    `path` is the workspace's, `places` are what there is of it.
    """

    path: str
    places: tuple[str, ...]
    size: int
    work: str | None = None


class Housekeeping(Protocol):
    """Files of agents; nothing else in the home is touched."""

    def folders(self) -> Sequence[Folder]:
        """Return all workspaces of the home, half-made and half-removed ones included."""
        ...

    def remove_folder(self, folder: Folder) -> None:
        """Remove all that there is of a workspace; safe to repeat."""
        ...

    def files_size(self, agent_id: str) -> int:
        """Return how many bytes the logs and the notes of an agent take."""
        ...

    def remove_files(self, agent_id: str) -> None:
        """Remove the logs and the notes of an agent; safe to repeat."""
        ...
