"""Getting work out: onto a branch of the repository, or to a remote."""

import asyncio
import os
from pathlib import Path

from quarterdeck.clients.git.program import Git
from quarterdeck.errors import Conflict, GitFailed, InvalidInput, MergeConflict
from quarterdeck.repositories.workspaces.checkout import Checkout
from quarterdeck.repositories.workspaces.copies import unchanged_copies
from quarterdeck.repositories.workspaces.models import Merged, Pushed, WorkspacePlan, shown
from quarterdeck.repositories.workspaces.nested import nested_repositories
from quarterdeck.repositories.workspaces.planning import (
    branch_names,
    commit_of,
    current_branch,
    is_branch_name,
    no_branch,
)
from quarterdeck.repositories.workspaces.saving import commit_tree, with_identity
from quarterdeck.repositories.workspaces.snapshot import outside

_BUSY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


async def commit_everything(plan: WorkspacePlan, checkout: Checkout, message: str) -> str:
    """Commit all work where the worktree stands, as the agent would have; return that commit."""
    _check_idle(checkout)
    nested = await nested_repositories(checkout)
    copies = await asyncio.to_thread(unchanged_copies, plan)
    left_out = await outside(checkout, nested, copies)
    paths = [".", *(f":(exclude,literal){name}" for name in left_out)]
    stdin = b"".join(os.fsencode(path) + b"\0" for path in paths)
    git = await with_identity(checkout.git)
    await git.change(
        "add", "-A", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=stdin
    )
    if (await git.ask("diff", "--cached", "--quiet")).code or not checkout.head:
        await git.change("commit", "--quiet", "--no-verify", "--file=-", stdin=os.fsencode(message))
    commit = await commit_of(git, "HEAD")
    assert commit
    return commit


def _check_idle(checkout: Checkout) -> None:
    for name, what in _BUSY.items():
        if (checkout.admin / name).exists():
            raise Conflict(
                f"The work tree {str(checkout.path)!r} is in the middle of {what}",
                details={"path": str(checkout.path)},
                hint="finish or abort it there first",
            )


async def target_branch(plan: WorkspacePlan, git: Git, into: str | None) -> str:
    """Return the branch to merge into.

    Raises:
        InvalidInput: There is none of that name, or it is the agent's own.
    """
    branches = await branch_names(git)
    name = into or plan.target or await current_branch(git)
    if not name or name not in branches:
        raise no_branch("into", name or "HEAD", branches)
    if name == plan.branch:
        raise InvalidInput.field(
            "into", f"names {name!r}, the agent's own branch", hint="name another branch"
        )
    return name


async def merge_commit(git: Git, branch: str, commit: str, into: str, message: str) -> Merged:
    """Merge a commit into a branch; a work tree is touched only if it has that branch, clean."""
    old = await commit_of(git, f"refs/heads/{into}")
    assert old
    if not (await git.ask("merge-base", "--is-ancestor", commit, old)).code:
        return Merged(branch=branch, into=into, commit=old, changed=False)
    place = await checked_out_at(git, into)
    if place:
        await _check_clean(git.at(place), into)
    tree = await _merged_tree(git, branch, commit, into, old)
    new = await commit_tree(git, tree, [old, commit], message)
    if place:
        await git.at(place).change("merge", "--quiet", "--ff-only", new)
    else:
        await git.change("update-ref", f"refs/heads/{into}", new, old)
    return Merged(branch=branch, into=into, commit=new, changed=True)


async def checked_out_at(git: Git, branch: str) -> Path | None:
    """Return the work tree that has the branch checked out."""
    answer = await git.read("worktree", "list", "--porcelain", "-z")
    path: Path | None = None
    for line in answer.fields:
        if line.startswith("worktree "):
            path = Path(line.removeprefix("worktree "))
        if line == f"branch refs/heads/{branch}" and path and path.is_dir():
            return path
    return None


async def _check_clean(git: Git, branch: str) -> None:
    options = ("--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all")
    folder = Path((await git.read("rev-parse", "--absolute-git-dir")).text)
    _check_idle(Checkout(git, git.place, folder, None, branch))
    changed = (await git.read("status", *options)).fields
    if changed:
        raise Conflict(
            f"{branch!r} is checked out in {str(git.place)!r}, where files are changed",
            details={"branch": branch, "path": str(git.place), "files": len(changed)},
            hint="commit or stash them there first; nothing was merged",
        )


async def _merged_tree(git: Git, branch: str, commit: str, into: str, old: str) -> str:
    options = ("--write-tree", "--name-only", "--no-messages", "-z")
    answer = await git.ask("merge-tree", *options, old, commit)
    if answer.code > 1:
        raise GitFailed(["merge-tree", into, branch], answer.code, answer.stderr)
    tree, *files = answer.fields
    if answer.code:
        raise MergeConflict(branch, into, sorted({shown(name) for name in files}))
    return tree


async def push_commit(git: Git, commit: str, remote: str | None, branch: str) -> Pushed:
    """Push a commit as a branch of a remote that the repository knows."""
    if not is_branch_name(branch):
        raise InvalidInput.field("branch", f"has {branch!r}, which git takes for no branch")
    name = await _remote(git, remote)
    answer = await git.ask("push", "--porcelain", name, f"{commit}:refs/heads/{branch}")
    if "[rejected]" in answer.text or "[remote rejected]" in answer.text:
        raise Conflict(
            f"{name!r} did not take the branch {branch!r}",
            details={"remote": name, "branch": branch, "answer": answer.text},
            hint="it has commits of its own there, or a rule against it; push to another branch",
        )
    if answer.code:
        raise GitFailed(["push", name, branch], answer.code, answer.stderr)
    return Pushed(remote=name, branch=branch, commit=commit)


async def _remote(git: Git, wanted: str | None) -> str:
    known = (await git.read("remote")).text.splitlines()
    if wanted is None and known:
        return "origin" if "origin" in known else known[0]
    if wanted in known:
        assert wanted
        return wanted
    problem = f"names {wanted!r}, which the repository does not know" if wanted else "is not there"
    listed = f"its remotes: {', '.join(known)}" if known else "add one: git remote add origin URL"
    raise InvalidInput.field("remote", problem, hint=listed)
