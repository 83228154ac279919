"""Workspaces of local agents, in the fleet's words."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Literal, cast

from quarterdeck.domain.projects import Project
from quarterdeck.domain.workspaces import (
    ChangedFile,
    Commit,
    Diff,
    Merged,
    Pushed,
    Saved,
    Workspace,
)
from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.models import CommitLine, FileChange, WorkspacePlan

Report = Callable[[str], Awaitable[None]]

_Status = Literal["added", "modified", "deleted", "renamed", "copied", "type_changed"]


class LocalWorkspaces:
    """Plans, makes, shows and removes the workspaces of a home."""

    def __init__(self, workspaces: Workspaces, *, taskfile: str | None = None) -> None:
        self._workspaces = workspaces
        self._taskfile = taskfile

    async def plan(self, agent_id: str, name: str, project: Project) -> Workspace:
        plan = await self._workspaces.plan(
            name,
            agent_id,
            repository=project.repository,
            folder=project.folder,
            base=project.base,
            copy=project.copy_files,
            setup=project.setup,
        )
        taskfile = str(project.taskfile) if project.taskfile else self._taskfile
        return Workspace(
            kind=plan.kind,
            path=str(plan.path),
            repository=str(plan.repository) if plan.repository else None,
            branch=plan.branch,
            base=plan.base,
            base_branch=plan.target,
            copy_files=plan.copy,
            setup=plan.setup,
            taskfile=taskfile,
        )

    async def prepare(self, workspace: Workspace, report: Report) -> None:
        await self._workspaces.prepare(_plan(workspace), report)

    async def remove(self, workspace: Workspace, name: str) -> Saved | None:
        saved = await self._workspaces.remove(_plan(workspace), name=name)
        if saved is None:
            return None
        folder = str(saved.folder) if saved.folder else None
        return Saved(branch=saved.branch, commit=saved.commit, folder=folder)

    async def diff(self, workspace: Workspace) -> Diff:
        found = await self._workspaces.diff(_plan(workspace))
        return Diff(
            branch=found.branch,
            base=found.base,
            head=found.head,
            commits=tuple(map(_commit, found.commits)),
            files=tuple(map(_changed_file, found.files)),
            patch=found.patch,
            truncated=found.truncated,
            reason=found.reason,
        )

    async def merge(self, workspace: Workspace, into: str | None) -> Merged:
        merged = await self._workspaces.merge(_plan(workspace), into=into)
        return Merged(into=merged.into, commit=merged.commit, branch=merged.branch)

    async def push(self, workspace: Workspace, remote: str, branch: str | None) -> Pushed:
        pushed = await self._workspaces.push(_plan(workspace), remote=remote, branch=branch)
        return Pushed(remote=pushed.remote, branch=pushed.branch, commit=pushed.commit)


def _plan(workspace: Workspace) -> WorkspacePlan:
    assert workspace.kind != "remote"  # those belong to other runtimes
    return WorkspacePlan(
        kind=workspace.kind,
        path=Path(workspace.path),
        repository=Path(workspace.repository) if workspace.repository else None,
        branch=workspace.branch,
        base=workspace.base,
        copy=workspace.copy_files,
        setup=workspace.setup,
        target=workspace.base_branch,
    )


def _commit(line: CommitLine) -> Commit:
    return Commit(id=line.id, subject=line.subject, at=datetime.fromisoformat(line.authored_at))


def _changed_file(change: FileChange) -> ChangedFile:
    return ChangedFile(
        path=change.path,
        old_path=change.old_path,
        status=cast("_Status", change.status),
        added=change.added,
        deleted=change.deleted,
    )
