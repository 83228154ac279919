"""Files that git does not keep and an agent needs, such as `.env`."""

import filecmp
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from quarterdeck.errors import CannotWrite
from quarterdeck.repositories.workspaces.models import WorkspacePlan


def copy_files(plan: WorkspacePlan) -> list[str]:
    """Copy what the plan lists and the worktree lacks; return what was left out, and why."""
    remarks: list[str] = []
    for source, target in _pairs(plan, remarks):
        if os.path.lexists(target):
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
        except OSError as error:
            raise CannotWrite(str(target), error.strerror or str(error)) from error
    return remarks


def unchanged_copies(plan: WorkspacePlan) -> list[str]:
    """Return the copied files that are still what they were, as the worktree names them."""
    return [
        str(target.relative_to(plan.path))
        for source, target in _pairs(plan, [])
        if target.is_file() and not target.is_symlink() and _same(source, target)
    ]


def _pairs(plan: WorkspacePlan, remarks: list[str]) -> Iterator[tuple[Path, Path]]:
    if not plan.repository or not plan.copy or not (plan.repository / ".git").exists():
        return  # a bare repository has no such files
    for source in _sources(plan.repository, plan.copy):
        name = source.relative_to(plan.repository)
        target = plan.path / name
        if not source.resolve().is_relative_to(plan.repository):
            remarks.append(f"{name} is not copied: it leads out of the repository")
        elif not target.parent.resolve().is_relative_to(plan.path):
            remarks.append(f"{name} is not copied: its folder leads out of the workspace")
        elif source.is_file():
            yield source, target


def _sources(repository: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        for found in sorted(repository.glob(pattern)):
            yield from (path for path in _files(found) if not _is_gits(path, repository))


def _files(found: Path) -> Iterator[Path]:
    if found.is_symlink() or not found.is_dir():
        yield found
        return
    for folder, _, names in os.walk(found):
        yield from (Path(folder, name) for name in sorted(names))


def _is_gits(path: Path, repository: Path) -> bool:
    return ".git" in path.relative_to(repository).parts


def _same(source: Path, target: Path) -> bool:
    try:
        return filecmp.cmp(source, target, shallow=False)
    except OSError:
        return False
