"""Removing a workspace, once everything in it is safe elsewhere."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

from quarterdeck.clients.git.program import Git
from quarterdeck.errors import QuarterdeckError, WorkNotSaved
from quarterdeck.repositories.workspaces.checkout import admin_folders, worktree_checkout
from quarterdeck.repositories.workspaces.making import free_branch, remove_folder
from quarterdeck.repositories.workspaces.merging import checked_out_at
from quarterdeck.repositories.workspaces.models import Saved, WorkspacePlan
from quarterdeck.repositories.workspaces.nested import free_name, keep_nested
from quarterdeck.repositories.workspaces.places import Places, private
from quarterdeck.repositories.workspaces.planning import commit_of
from quarterdeck.repositories.workspaces.saving import holders, save_worktree, saved_branches


async def remove_worktree(
    places: Places, plan: WorkspacePlan, common: Path, git: Git, name: str
) -> Saved | None:
    """Save, then remove; each step finds out by itself whether it was done before."""
    if plan.path.is_dir():
        saved = await _save_and_set_aside(places, plan, common, git, name)
    else:
        saved = await _saved_before(places, plan, git)
    for admin in list(admin_folders(common, plan.path)):
        await asyncio.to_thread(remove_folder, admin)
    await _remove_leftovers(places, plan)
    free_branch(plan, common)
    kept = await _delete_branch(plan, git)
    return saved or kept


async def _save_and_set_aside(
    places: Places, plan: WorkspacePlan, common: Path, git: Git, name: str
) -> Saved | None:
    try:
        checkout = await worktree_checkout(plan, common, git.held[0])
        saved = await save_worktree(plan, checkout, name)
        if saved and saved.nested:
            kept = places.kept(plan.path)
            await asyncio.to_thread(keep_nested, checkout, list(saved.nested), kept)
            saved = replace(saved, folder=kept)
        # From here on a half-removed folder cannot be taken for an agent's deletions.
        plan.path.rename(free_name(places.removed(plan.path)))
    except (QuarterdeckError, OSError, shutil.Error) as error:
        raise WorkNotSaved(str(plan.path), str(error)) from error
    return saved


async def _saved_before(places: Places, plan: WorkspacePlan, git: Git) -> Saved | None:
    folder = places.kept(plan.path)
    branches = await saved_branches(plan, git)
    if not branches and not folder.is_dir():
        return None
    last = branches[-1] if branches else None
    return Saved(
        branch=last.name if last else None,
        commit=last.commit if last else None,
        folder=folder if folder.is_dir() else None,
    )


async def _delete_branch(plan: WorkspacePlan, git: Git) -> Saved | None:
    """Delete the agent's branch, or say that it holds what no other does."""
    own = f"refs/heads/{plan.branch}"
    tip = await commit_of(git, own)
    if not tip or not plan.branch:
        return None
    if not set(await holders(git, tip)) - {own}:
        return Saved(branch=plan.branch, commit=tip)
    if not await checked_out_at(git, plan.branch):
        await git.change("update-ref", "-d", own, tip)
        await git.ask("config", "--remove-section", f"branch.{plan.branch}")
    return None


async def keep_folder(places: Places, plan: WorkspacePlan) -> Saved | None:
    """Move a folder that no repository knows to what is saved, unless nothing is in it."""
    kept = places.kept(plan.path)
    if not plan.path.is_dir():
        return Saved(folder=kept) if kept.is_dir() else None
    if not any(plan.path.iterdir()):
        plan.path.rmdir()
        return None
    try:
        private(places.saved)
        target = free_name(kept)
        await asyncio.to_thread(shutil.move, plan.path, target)
    except (OSError, shutil.Error) as error:
        raise WorkNotSaved(str(plan.path), str(error)) from error
    return Saved(folder=target)


async def _remove_leftovers(places: Places, plan: WorkspacePlan) -> None:
    gone = places.removed(plan.path)
    for folder in (gone, *places.workspaces.glob(f"{gone.name}-*")):
        await asyncio.to_thread(remove_folder, folder)
