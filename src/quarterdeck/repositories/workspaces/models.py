"""What is known of a workspace and of the work in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class WorkspacePlan:
    """Where an agent is going to work; stored before anything is made.

    Args:
        kind: A worktree of `repository`, the project's own `folder`, or a folder of the agent's.
        path: Where the agent works.
        repository: The top of the work tree, or the bare repository, that a worktree belongs to.
        branch: The agent's own branch.
        base: The commit the branch begins at.
        copy: Patterns of files that git does not keep and the agent needs.
        setup: A shell command that readies the workspace.
        target: The branch that the work is meant for, if `base` was one.
    """

    kind: Literal["worktree", "folder", "scratch"]
    path: Path
    repository: Path | None = None
    branch: str | None = None
    base: str | None = None
    copy: tuple[str, ...] = ()
    setup: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Saved:
    """Where work is kept: a branch of the repository, a folder of the home, or both.

    `nested` are repositories inside the worktree, which no branch of the outer one can hold.
    """

    branch: str | None = None
    commit: str | None = None
    folder: Path | None = None
    nested: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommitLine:
    id: str
    subject: str
    authored_at: str


@dataclass(frozen=True)
class FileChange:
    """One file; `added` and `deleted` count lines, and are None for a binary file."""

    path: str
    old_path: str | None
    status: str
    added: int | None
    deleted: int | None

    @property
    def is_binary(self) -> bool:
        return self.added is None


@dataclass(frozen=True)
class Diff:
    """The work of an agent; `reason` says why there is none to show.

    `truncated` if commits, files or patch are not all there. `nested` are repositories inside
    the workspace, whose content is not shown.
    """

    branch: str | None = None
    head: str | None = None
    base: str | None = None
    commits: tuple[CommitLine, ...] = ()
    files: tuple[FileChange, ...] = ()
    patch: str = ""
    truncated: bool = False
    nested: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Merged:
    """`commit` is the new end of `into`; `changed` is false if it had the work already."""

    branch: str
    into: str
    commit: str
    changed: bool


@dataclass(frozen=True)
class Pushed:
    remote: str
    branch: str
    commit: str


def shown(name: str) -> str:
    """Return a name that any text can hold; bytes that are no UTF-8 are written out."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
