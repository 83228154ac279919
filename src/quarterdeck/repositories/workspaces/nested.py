"""Repositories inside a worktree: a branch of the outer one would keep no more than an id."""

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

from quarterdeck.repositories.workspaces.checkout import Checkout
from quarterdeck.repositories.workspaces.places import private


async def nested_repositories(checkout: Checkout) -> list[str]:
    """Return the folders with a repository of their own that git does not ignore."""
    found = await asyncio.to_thread(_find, checkout.path)
    if not found:
        return []
    listed = b"".join(os.fsencode(name) + b"\0" for name in found)
    ignored = await checkout.git.ask("check-ignore", "-z", "--stdin", stdin=listed)
    return [name for name in found if name not in ignored.fields]


def _find(top: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, files in os.walk(top):
        if Path(folder) == top:
            folders[:] = [name for name in folders if name != ".git"]
        elif ".git" in folders or ".git" in files:
            found.append(os.path.relpath(folder, top))
            folders.clear()  # it goes with all that is in it
    return sorted(found)


def keep_nested(checkout: Checkout, names: list[str], kept: Path) -> None:
    """Move repositories out of a worktree that is about to be removed."""
    for name in names:
        source, target = checkout.path / name, kept / name
        private(target.parent)
        _bring_home(source / ".git", checkout.admin)
        shutil.move(source, free_name(target))


def _bring_home(link: Path, admin: Path) -> None:
    """Give a submodule its own git folder, which is else removed with the worktree's records."""
    if not link.is_file():
        return
    pointed = os.fsdecode(link.read_bytes()).removeprefix("gitdir:").strip()
    folder = (link.parent / pointed).resolve()
    if not folder.is_dir() or not folder.is_relative_to(admin.resolve()):
        return
    draft = link.with_name(".git.partial")
    with suppress(FileNotFoundError):
        shutil.rmtree(draft)
    shutil.copytree(folder, draft, symlinks=True)
    _forget_work_tree(draft / "config")
    link.unlink()
    draft.rename(link)


def _forget_work_tree(config: Path) -> None:
    lines = config.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not line.strip().lower().startswith(b"worktree")]
    config.write_bytes(b"".join(kept))


def free_name(wanted: Path) -> Path:
    """Return the path, or one like it at which nothing is."""
    number, path = 2, wanted
    while os.path.lexists(path):
        path, number = wanted.with_name(f"{wanted.name}-{number}"), number + 1
    return path
