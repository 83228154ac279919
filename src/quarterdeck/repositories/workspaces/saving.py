"""Work that exists nowhere else, kept on a branch that nobody has checked out."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quarterdeck.clients.git.program import Git
from quarterdeck.repositories.workspaces.checkout import Checkout
from quarterdeck.repositories.workspaces.copies import unchanged_copies
from quarterdeck.repositories.workspaces.models import Saved, WorkspacePlan
from quarterdeck.repositories.workspaces.nested import nested_repositories
from quarterdeck.repositories.workspaces.snapshot import Snapshot, outside, snapshot, tree_of

# Not below the branches of agents, one of which might be called "saved".
_FOLDER = "quarterdeck-saved"


@dataclass(frozen=True)
class SavedBranch:
    name: str
    commit: str
    tree: str
    parents: tuple[str, ...]


async def save_worktree(plan: WorkspacePlan, checkout: Checkout, name: str) -> Saved | None:
    """Save what no other branch and no remote has; saving the same twice gives one branch."""
    nested = await nested_repositories(checkout)
    copies = await asyncio.to_thread(unchanged_copies, plan)
    left_out = await outside(checkout, nested, copies)
    async with snapshot(checkout, left_out, keep=True) as shot:
        saved = await _save(plan, checkout, shot, name)
    if nested:
        return replace(saved or Saved(), nested=tuple(nested))
    return saved


async def _save(plan: WorkspacePlan, checkout: Checkout, shot: Snapshot, name: str) -> Saved | None:
    git = checkout.git
    parents = [checkout.head] if checkout.head else []
    parents += await _loose_commits(plan, checkout)
    if shot.staged:
        parents.append(await _staged_commit(checkout, shot.staged))
    if len(parents) == 1 and shot.tree == await tree_of(git, checkout.head):
        return await _save_commit(plan, git, parents[0])
    if not parents and await _is_empty(git, shot.tree):
        return None
    earlier = await saved_branches(plan, git)
    for branch in earlier:
        if (branch.tree, branch.parents) == (shot.tree, tuple(parents)):
            return Saved(branch=branch.name, commit=branch.commit)
    message = f"Work of {name} that was not committed\n\nSaved by Quarterdeck."
    return await _branch(plan, git, await commit_tree(git, shot.tree, parents, message), earlier)


async def _save_commit(plan: WorkspacePlan, git: Git, commit: str) -> Saved | None:
    """Give a commit a branch, unless one has it that is neither the agent's nor of our making."""
    earlier = await saved_branches(plan, git)
    ours = {f"refs/heads/{branch.name}" for branch in earlier}
    if set(await holders(git, commit)) - ours - {f"refs/heads/{plan.branch}"}:
        return None
    for branch in earlier:
        if branch.commit == commit:
            return Saved(branch=branch.name, commit=commit)
    return await _branch(plan, git, commit, earlier)


async def _branch(
    plan: WorkspacePlan, git: Git, commit: str, earlier: Sequence[SavedBranch]
) -> Saved:
    taken = {branch.name for branch in earlier}
    number, name = 2, _prefix(plan)
    while name in taken:
        name, number = f"{_prefix(plan)}-{number}", number + 1
    await git.change("update-ref", f"refs/heads/{name}", commit, "0" * len(commit))
    return Saved(branch=name, commit=commit)


async def saved_branches(plan: WorkspacePlan, git: Git) -> list[SavedBranch]:
    """Return the branches that hold work of this workspace, oldest first."""
    form = "%(refname:lstrip=2)%09%(objectname)%09%(tree)%09%(parent)"
    answer = await git.read("for-each-ref", f"--format={form}", f"refs/heads/{_FOLDER}/")
    rows = [line.split("\t") for line in answer.text.splitlines()]
    found = [SavedBranch(row[0], row[1], row[2], tuple(row[3].split())) for row in rows]
    ours = [branch for branch in found if _number(plan, branch.name) is not None]
    return sorted(ours, key=lambda branch: _number(plan, branch.name) or 0)


def _prefix(plan: WorkspacePlan) -> str:
    return f"{_FOLDER}/{plan.path.name}"


def _number(plan: WorkspacePlan, name: str) -> int | None:
    rest = name.removeprefix(_prefix(plan)) if name.startswith(_prefix(plan)) else "other"
    if rest == "":
        return 1
    return int(rest[1:]) if rest[0] == "-" and rest[1:].isdigit() else None


async def holders(git: Git, commit: str) -> list[str]:
    """Return the branches, local or remote, and tags from which a commit can be reached."""
    places = ("refs/heads", "refs/remotes", "refs/tags")
    answer = await git.read("for-each-ref", "--format=%(refname)", f"--contains={commit}", *places)
    return answer.text.splitlines()


async def _loose_commits(plan: WorkspacePlan, checkout: Checkout) -> list[str]:
    """Return commits that only a merge or a rebase in progress knows of."""
    names = ("MERGE_HEAD", "rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH")
    loose: list[str] = []
    for path in (checkout.admin / name for name in names):
        for commit in path.read_text(encoding="ascii").split() if path.is_file() else ():
            if commit not in loose and not await holders(checkout.git, commit):
                loose.append(commit)
    return loose


async def _staged_commit(checkout: Checkout, tree: str) -> str:
    # Dated like HEAD, so that saving twice makes one and the same commit.
    date = "@0 +0000"
    if checkout.head:
        date = (await checkout.git.read("log", "-1", "--format=@%ct +0000", checkout.head)).text
    git = checkout.git.having(GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
    parents = [checkout.head] if checkout.head else []
    return await commit_tree(git, tree, parents, "What was staged, and then changed again")


async def commit_tree(git: Git, tree: str, parents: Sequence[str], message: str) -> str:
    """Make a commit, in the user's name or, if git does not know it, in ours."""
    git = await with_identity(git)
    options = [part for parent in parents for part in ("-p", parent)]
    durable = ("-c", "core.fsync=committed,loose-object")
    answer = await git.change(
        *durable, "commit-tree", tree, *options, "-F", "-", stdin=os.fsencode(message)
    )
    return answer.text


async def with_identity(git: Git) -> Git:
    known = [(await git.ask("config", f"user.{key}")).text for key in ("name", "email")]
    if all(known):
        return git
    name, email = "Quarterdeck", "quarterdeck@localhost"
    return git.having(
        GIT_AUTHOR_NAME=name,
        GIT_AUTHOR_EMAIL=email,
        GIT_COMMITTER_NAME=name,
        GIT_COMMITTER_EMAIL=email,
    )


async def _is_empty(git: Git, tree: str) -> bool:
    return not (await git.read("ls-tree", tree)).text
