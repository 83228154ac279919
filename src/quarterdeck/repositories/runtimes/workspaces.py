"""Where local agents work: a git worktree, the project's own folder, or a folder of their own.

A plan is made first and stored by the caller, so that every step can be repeated after a crash:
`prepare` finishes what it began, and `remove` undoes it or goes on removing.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from quarterdeck.clients.git.program import Git, check_version
from quarterdeck.errors import InvalidInput, NotFound
from quarterdeck.repositories.workspaces import making, merging, planning, removing
from quarterdeck.repositories.workspaces.checkout import (
    Checkout,
    common_folder,
    folder_checkout,
    worktree_checkout,
)
from quarterdeck.repositories.workspaces.copies import copy_files
from quarterdeck.repositories.workspaces.diffing import diff_checkout
from quarterdeck.repositories.workspaces.locks import RepositoryLocks
from quarterdeck.repositories.workspaces.models import (
    Diff,
    Merged,
    Pushed,
    Saved,
    WorkspacePlan,
)
from quarterdeck.repositories.workspaces.places import Places, private
from quarterdeck.repositories.workspaces.saving import save_worktree
from quarterdeck.repositories.workspaces.setup import Report, run_setup

SETUP_SECONDS = 1800.0


@dataclass(frozen=True)
class _Repository:
    """A repository whose lock is held."""

    git: Git
    common: Path
    held: int


class Workspaces:
    """Makes, shows and removes the workspaces of one home."""

    def __init__(self, home: Path, *, setup_seconds: float = SETUP_SECONDS) -> None:
        """Workspaces are in `home/workspaces`, and what is kept of them in `home/saved`."""
        self._places = Places(home.resolve())
        self._locks = RepositoryLocks(self._places.locks)
        self._setup_seconds = setup_seconds

    async def plan(  # noqa: PLR0913 - a project has that many facts, each by its name
        self,
        agent_name: str,
        unique: str,
        *,
        repository: Path | None,
        folder: Path | None,
        base: str | None = None,
        copy: Sequence[str] = (),
        setup: str | None = None,
    ) -> WorkspacePlan:
        """Choose where an agent works, and make nothing.

        Raises:
            InvalidInput: The repository, its base branch or the folder cannot be used.
            GitMissing: A repository needs git.
        """
        if folder and not repository:
            if copy or setup:
                raise InvalidInput.field(
                    "folder",
                    "is used as it is, so it takes neither 'copy' nor 'setup'",
                    hint="ready the folder yourself, or make it a repository",
                )
            return planning.plan_folder(folder)
        if repository:
            plan = await planning.plan_worktree(
                self._places, agent_name, unique, repository=repository, base=base
            )
        else:
            plan = planning.plan_scratch(self._places, agent_name, unique)
        return replace(plan, copy=planning.checked_patterns(copy), setup=setup)

    async def prepare(self, plan: WorkspacePlan, report: Report) -> None:
        """Make the workspace, or what is missing of it; one that was finished stays as it is.

        Raises:
            SetupFailed: The project's setup command did not end well.
            GitFailed: git refused to make the worktree.
        """
        if plan.kind == "folder":
            planning.plan_folder(plan.path)
            return
        async with self._locks.hold(plan.path):
            if making.is_finished(self._places, plan):
                await self._revive(plan)
                return
            await making.clear_half_made(self._places, plan)
            mark = making.begin(self._places, plan)
            await self._make(plan, report)
            if plan.setup:
                await run_setup(
                    plan.setup,
                    plan.path,
                    report,
                    mark=mark,
                    deadline_seconds=self._setup_seconds,
                )
            mark.unlink()

    async def save(self, plan: WorkspacePlan, name: str) -> Saved | None:
        """Keep work that exists nowhere else on a branch; the worktree is not touched.

        Raises:
            GitFailed: It could not be saved.
        """
        if plan.kind != "worktree" or not making.is_finished(self._places, plan):
            return None
        async with self._repository(plan) as repository:
            return await save_worktree(plan, await self._checkout(plan, repository), name)

    async def remove(self, plan: WorkspacePlan, *, name: str) -> Saved | None:
        """Remove a workspace of ours; say where its work is kept, if it had any of its own.

        Raises:
            WorkNotSaved: Its work could not be saved; nothing was removed.
        """
        if plan.kind == "folder":
            return None
        async with self._locks.hold(plan.path):
            await making.clear_half_made(self._places, plan)
            saved = await self._remove(plan, name)
            self._places.making(plan.path).unlink(missing_ok=True)
            return saved

    async def diff(self, plan: WorkspacePlan) -> Diff:
        """Compare what is in the workspace with where it began."""
        if not plan.path.is_dir():
            return Diff(reason=f"there is no folder {str(plan.path)!r}")
        if plan.kind == "worktree":
            assert plan.repository
            checkout = await worktree_checkout(plan, await common_folder(plan.repository), -1)
            return await diff_checkout(plan, checkout, plan.base)
        ceiling = plan.path.parent if plan.kind == "scratch" else None
        found = await folder_checkout(plan.path, ceiling=ceiling)
        if found is None:
            return Diff(reason="the folder is not in a git repository")
        return await diff_checkout(plan, found, found.head)

    async def merge(
        self, plan: WorkspacePlan, *, into: str | None = None, message: str | None = None
    ) -> Merged:
        """Commit what is not committed, and merge the work into a branch of the repository.

        Raises:
            MergeConflict: Both changed the same places; the branch stays as it was.
            Conflict: The branch is checked out somewhere with changes in it.
        """
        async with self._repository(plan) as repository:
            target = await merging.target_branch(plan, repository.git, into)
            assert plan.branch
            commit = await self._commit(plan, repository)
            text = message or f"Merge {plan.branch} into {target}"
            return await merging.merge_commit(repository.git, plan.branch, commit, target, text)

    async def push(
        self, plan: WorkspacePlan, *, remote: str | None = None, branch: str | None = None
    ) -> Pushed:
        """Commit what is not committed, and push the work to a remote, by default as its branch."""
        async with self._repository(plan) as repository:
            commit = await self._commit(plan, repository)
        # Networks are slow, and a push changes nothing that the lock guards.
        assert plan.repository
        assert plan.branch
        git = Git(plan.repository)
        return await merging.push_commit(git, commit, remote, branch or plan.branch)

    async def _make(self, plan: WorkspacePlan, report: Report) -> None:
        if plan.kind == "scratch":
            private(plan.path)
            return
        async with self._repository(plan) as repository:
            await making.clear_records(plan, repository.common, repository.git)
            await making.add_worktree(plan, repository.git)
        for remark in await asyncio.to_thread(copy_files, plan):
            await report(remark)

    async def _revive(self, plan: WorkspacePlan) -> None:
        if plan.kind == "worktree":
            async with self._repository(plan) as repository:
                making.free_of_dead_locks(plan, repository.common)

    async def _remove(self, plan: WorkspacePlan, name: str) -> Saved | None:
        if plan.kind == "scratch" or not (plan.repository and plan.repository.is_dir()):
            return await removing.keep_folder(self._places, plan)
        async with self._repository(plan) as repository:
            return await removing.remove_worktree(
                self._places, plan, repository.common, repository.git, name
            )

    async def _commit(self, plan: WorkspacePlan, repository: _Repository) -> str:
        assert plan.branch
        if making.is_finished(self._places, plan):
            checkout = await self._checkout(plan, repository)
            return await merging.commit_everything(plan, checkout, f"Work of {plan.branch}")
        commit = await planning.commit_of(repository.git, f"refs/heads/{plan.branch}")
        if commit is None:
            raise NotFound(
                f"The branch {plan.branch!r} is gone",
                details={"branch": plan.branch},
                hint="the agent was removed; its work, if any, is on a branch quarterdeck-saved/",
            )
        return commit

    async def _checkout(self, plan: WorkspacePlan, repository: _Repository) -> Checkout:
        return await worktree_checkout(plan, repository.common, repository.held)

    @asynccontextmanager
    async def _repository(self, plan: WorkspacePlan) -> AsyncGenerator[_Repository]:
        if plan.kind != "worktree" or not plan.repository:
            raise InvalidInput(
                "The agent works in a plain folder, which has no branch",
                details={"path": str(plan.path)},
                hint="take its files from that folder",
            )
        await check_version(plan.repository)
        common = await common_folder(plan.repository)
        async with self._locks.hold(common) as held:
            yield _Repository(Git(plan.repository, held=(held,)), common, held)
