"""Making a workspace; what a killed daemon left half-made is cleared away and made again."""

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

from quarterdeck.clients.git.program import Git
from quarterdeck.errors import CannotWrite, Conflict
from quarterdeck.repositories.scratch import sync_folder
from quarterdeck.repositories.workspaces.checkout import admin_folders
from quarterdeck.repositories.workspaces.merging import checked_out_at
from quarterdeck.repositories.workspaces.models import WorkspacePlan
from quarterdeck.repositories.workspaces.places import Places, private
from quarterdeck.repositories.workspaces.planning import commit_of
from quarterdeck.repositories.workspaces.setup import end_left_over

_LOCKS_OF_GIT = ("index.lock", "HEAD.lock")


def is_finished(places: Places, plan: WorkspacePlan) -> bool:
    return plan.path.is_dir() and not places.making(plan.path).exists()


def begin(places: Places, plan: WorkspacePlan) -> Path:
    """Mark a workspace as one in which nobody has worked yet."""
    mark = places.making(plan.path)
    try:
        private(places.workspaces)
        mark.touch(mode=0o600)
        sync_folder(places.workspaces)
    except OSError as error:
        raise CannotWrite(str(places.workspaces), error.strerror or str(error)) from error
    return mark


async def add_worktree(plan: WorkspacePlan, git: Git) -> None:
    assert plan.branch
    assert plan.base
    if await commit_of(git, f"refs/heads/{plan.branch}"):
        raise Conflict(
            f"The branch {plan.branch!r} has appeared in {str(plan.repository)!r} meanwhile",
            details={"branch": plan.branch, "repository": str(plan.repository)},
            hint="delete this agent and create it again; it gets another branch then",
        )
    await git.change("worktree", "add", "--no-track", "-b", plan.branch, str(plan.path), plan.base)


def free_of_dead_locks(plan: WorkspacePlan, common: Path) -> None:
    """Take away what a killed git left; no agent is at work while its workspace is prepared."""
    for admin in admin_folders(common, plan.path):
        for name in _LOCKS_OF_GIT:
            (admin / name).unlink(missing_ok=True)


def free_branch(plan: WorkspacePlan, common: Path) -> None:
    """Take away the lock of an agent's branch that a killed git left; nobody else works on it."""
    (common / "refs" / "heads" / f"{plan.branch}.lock").unlink(missing_ok=True)


async def clear_half_made(places: Places, plan: WorkspacePlan) -> None:
    """Remove the folder of a workspace that was never finished."""
    mark = places.making(plan.path)
    if mark.exists():
        end_left_over(mark)
        await asyncio.to_thread(remove_folder, plan.path)


async def clear_records(plan: WorkspacePlan, common: Path, git: Git) -> None:
    """Remove git's records of a worktree that is gone, and its branch if nothing is on it."""
    for admin in list(admin_folders(common, plan.path)):
        await asyncio.to_thread(remove_folder, admin)
    free_branch(plan, common)
    assert plan.branch
    tip = await commit_of(git, f"refs/heads/{plan.branch}")
    if tip and tip == plan.base and not await checked_out_at(git, plan.branch):
        await git.change("update-ref", "-d", f"refs/heads/{plan.branch}", tip)


def remove_folder(path: Path) -> None:
    """Remove a folder, also from folders in it that may not be written."""
    with suppress(FileNotFoundError):
        if path.is_symlink() or not path.is_dir():
            path.unlink()
            return
        for folder, folders, _ in os.walk(path):
            for name in folders:
                inner = Path(folder, name)
                if not inner.is_symlink() and not os.access(inner, os.W_OK | os.X_OK):
                    inner.chmod(0o700)
        shutil.rmtree(path)
