"""Workspaces: where an agent works, and what it has changed there."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Workspace(_Frozen):
    """A place chosen for one agent; it is stored before anything is made there.

    `base` is the commit that the agent's branch starts from.
    """

    kind: Literal["worktree", "folder", "scratch", "remote"]
    path: str
    repository: str | None = None
    branch: str | None = None
    base: str | None = None
    base_branch: str | None = None
    copy_files: tuple[str, ...] = ()
    setup: str | None = None
    taskfile: str | None = None


class Saved(_Frozen):
    """Work that was kept before its workspace went: on a branch, or in a folder."""

    branch: str | None = None
    commit: str | None = None
    folder: str | None = None


class Commit(_Frozen):
    """One commit that the agent's branch has and its base has not."""

    id: str
    subject: str
    at: datetime


class ChangedFile(_Frozen):
    """One file that differs from the base; a binary one has no counts."""

    path: str
    status: Literal["added", "modified", "deleted", "renamed", "copied", "type_changed"]
    old_path: str | None = None
    added: int | None = None
    deleted: int | None = None


class Diff(_Frozen):
    """What a workspace holds beyond its base, what was never committed included.

    `reason` says why there is nothing to show, if that is not because nothing changed.
    `truncated` is true when `patch` is not all of it.
    """

    branch: str | None = None
    base: str | None = None
    head: str | None = None
    commits: tuple[Commit, ...] = ()
    files: tuple[ChangedFile, ...] = ()
    patch: str = ""
    truncated: bool = False
    reason: str | None = None


class Merged(_Frozen):
    """Where an agent's work was merged into."""

    into: str
    commit: str
    branch: str


class Pushed(_Frozen):
    """Where an agent's branch was pushed to."""

    remote: str
    branch: str
    commit: str
