"""Where workspaces, what is saved of them, and their locks are in the home."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Places:
    """Folders of the home; each is made when it is needed."""

    home: Path

    @property
    def workspaces(self) -> Path:
        return self.home / "workspaces"

    @property
    def saved(self) -> Path:
        return self.home / "saved"

    @property
    def locks(self) -> Path:
        return self.home / "run" / "locks"

    def making(self, workspace: Path) -> Path:
        """The mark of a workspace in which nobody has worked yet, since it is not finished."""
        return self.workspaces / f".{workspace.name}.making"

    def removed(self, workspace: Path) -> Path:
        """Where a workspace goes, in one step, when all work in it is safe."""
        return self.workspaces / f".{workspace.name}.removed"

    def kept(self, workspace: Path) -> Path:
        """What no branch can hold of a workspace."""
        return self.saved / workspace.name


def resolved(path: str | Path) -> Path:
    """Return the path without links, as git names it."""
    return Path(path).resolve()


def private(folder: Path) -> Path:
    """Make a folder for its owner alone, unless it is there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
