"""A worktree as git keeps it, found by the repository's own records.

The `.git` file in a worktree is the agent's to change, so it is not asked.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quarterdeck.clients.git.program import Git
from quarterdeck.repositories.workspaces.models import WorkspacePlan
from quarterdeck.repositories.workspaces.places import resolved
from quarterdeck.repositories.workspaces.planning import commit_of, current_branch


@dataclass(frozen=True)
class Checkout:
    """A work tree and what git knows of it; `head` is None before the first commit."""

    git: Git
    path: Path
    admin: Path
    head: str | None
    branch: str | None

    @property
    def index(self) -> Path:
        return self.admin / "index"


async def common_folder(repository: Path) -> Path:
    """Return the folder that all worktrees of a repository share."""
    answer = await Git(repository).read("rev-parse", "--path-format=absolute", "--git-common-dir")
    return resolved(answer.text)


def admin_folders(common: Path, path: Path) -> Iterator[Path]:
    """Return git's records of the worktree at `path`, half-written ones included."""
    folder = common / "worktrees"
    for admin in sorted(folder.iterdir()) if folder.is_dir() else ():
        named = _text(admin / "gitdir")
        # git names its record after the folder, and ours is like no other.
        if named == str(path / ".git") or (not named and admin.name.startswith(path.name)):
            yield admin


def _text(path: Path) -> str:
    try:
        return os.fsdecode(path.read_bytes()).strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


async def worktree_checkout(plan: WorkspacePlan, common: Path, held: int) -> Checkout:
    """Return the worktree of a plan; one whose records are lost stands at its branch's end."""
    assert plan.branch
    known = [admin for admin in admin_folders(common, plan.path) if (admin / "HEAD").exists()]
    admin = known[0] if known else common
    git = Git(plan.path, held=(held,) if held >= 0 else ()).having(
        GIT_DIR=str(admin), GIT_WORK_TREE=str(plan.path)
    )
    if not known:
        head = await commit_of(git, f"refs/heads/{plan.branch}") or plan.base
        # No index of ours is there, and the repository's own is not to be used.
        return Checkout(git, plan.path, plan.path / ".git", head, plan.branch)
    return Checkout(git, plan.path, admin, await commit_of(git, "HEAD"), await current_branch(git))


async def folder_checkout(path: Path, *, ceiling: Path | None = None) -> Checkout | None:
    """Return the work tree that a plain folder is in, if it is in one."""
    git = Git(path)
    if ceiling:
        git = git.having(GIT_CEILING_DIRECTORIES=str(ceiling))
    answer = await git.ask("rev-parse", "--absolute-git-dir", "--show-toplevel")
    if answer.code:
        return None
    admin, _, top = answer.text.partition("\n")
    pinned = Git(path).having(GIT_DIR=admin, GIT_WORK_TREE=top)
    head = await commit_of(pinned, "HEAD")
    return Checkout(pinned, path, Path(admin), head, await current_branch(pinned))
