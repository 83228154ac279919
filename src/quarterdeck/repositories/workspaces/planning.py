"""Where an agent is going to work; nothing is made here."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from quarterdeck.clients.git.program import Git, check_version
from quarterdeck.errors import InvalidInput, closest_name
from quarterdeck.repositories.workspaces.models import WorkspacePlan
from quarterdeck.repositories.workspaces.places import Places, resolved

_SHORT = 8
_BRANCHES = "refs/heads/"


async def plan_worktree(
    places: Places, agent_name: str, unique: str, *, repository: Path, base: str | None
) -> WorkspacePlan:
    top = await checked_repository(places, repository)
    git = Git(top)
    branches = await branch_names(git)
    commit, target = await _base(git, base, branches)
    name, short = slug(agent_name), _short(unique)
    return WorkspacePlan(
        kind="worktree",
        path=places.workspaces / f"{name}-{short}",
        repository=top,
        branch=_free_branch(name, short, branches),
        base=commit,
        target=target,
    )


def plan_folder(folder: Path) -> WorkspacePlan:
    if not folder.is_dir():
        raise InvalidInput.field(
            "folder",
            f"names {str(folder)!r}, which is not a folder",
            hint="make that folder, or change the project",
        )
    return WorkspacePlan(kind="folder", path=folder.resolve())


def plan_scratch(places: Places, agent_name: str, unique: str) -> WorkspacePlan:
    path = places.workspaces / f"{slug(agent_name)}-{_short(unique)}"
    return WorkspacePlan(kind="scratch", path=path)


def checked_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of files to copy, which stay inside the repository."""
    for pattern in patterns:
        parts = PurePosixPath(pattern).parts
        if not parts or pattern.startswith("/") or ".." in parts or "\0" in pattern:
            raise InvalidInput.field(
                "copy",
                f"has {pattern!r}, which is no pattern of files inside the repository",
                hint="name files as the repository's top folder sees them, such as '.env'",
            )
    return tuple(patterns)


async def checked_repository(places: Places, repository: Path) -> Path:
    """Return the repository's top folder, links resolved.

    Raises:
        InvalidInput: It is none of which a worktree can be made.
    """
    top = _existing(repository)
    await check_version(top)
    if top.is_relative_to(resolved(places.workspaces)):
        raise _unfit(top, "is a workspace of an agent", hint="name the repository it came from")
    await _check_is_top(top)
    if not await _has_commit(Git(top)):
        hint = "commit something there first: git commit --allow-empty -m 'Begin'"
        raise _unfit(top, "has no commit yet", hint=hint)
    return top


async def _has_commit(git: Git) -> bool:
    # Not by walking all of them: that fails while a worktree is being made beside us.
    refs = await git.read("for-each-ref", "--count=1")
    return bool(refs.text) or await commit_of(git, "HEAD") is not None


def _existing(repository: Path) -> Path:
    if not repository.is_dir():
        raise _unfit(repository, "is not there", hint="clone it there, or change the project")
    return repository.resolve()


async def _check_is_top(top: Path) -> None:
    answer = await Git(top).ask("rev-parse", "--is-bare-repository", "--absolute-git-dir")
    if answer.code:
        raise _no_repository(top, answer.stderr)
    bare, _, git_dir = answer.text.partition("\n")
    if bare == "true":
        found = git_dir
    else:
        inside = await Git(top).ask("rev-parse", "--show-toplevel")
        found = inside.text if not inside.code else str(Path(git_dir).parent)
    if resolved(found) != top:
        raise _unfit(top, "is a folder inside a repository", hint=f"name {found!r} instead")


def _no_repository(top: Path, complaint: str) -> InvalidInput:
    if "not a git repository" in complaint:
        hint = "run 'git init' and commit something there, or use it as a plain folder"
        return _unfit(top, "is not a git repository", hint=hint)
    problem = f"cannot be read by git: {complaint.strip()}"
    return _unfit(top, problem, hint="mend what git complains about")


def _unfit(repository: Path, problem: str, *, hint: str) -> InvalidInput:
    return InvalidInput.field(
        "repository", f"names {str(repository)!r}, which {problem}", hint=hint
    )


async def branch_names(git: Git) -> list[str]:
    answer = await git.read("for-each-ref", "--format=%(refname)", _BRANCHES)
    return [line.removeprefix(_BRANCHES) for line in answer.text.splitlines()]


async def current_branch(git: Git) -> str | None:
    answer = await git.ask("symbolic-ref", "--quiet", "--short", "HEAD")
    return answer.text or None if not answer.code else None


async def commit_of(git: Git, name: str) -> str | None:
    """Return the commit that a name stands for, or None."""
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    answer = await git.ask(*arguments)
    return answer.text if not answer.code else None


async def _base(git: Git, base: str | None, branches: Sequence[str]) -> tuple[str, str | None]:
    """Return the commit to begin at, and the branch it is the end of."""
    name = base or await current_branch(git)
    if name in branches:
        commit = await commit_of(git, f"{_BRANCHES}{name}")
    else:
        commit = await commit_of(git, name or "HEAD")
    if commit is None:
        raise no_branch("base", name or "HEAD", branches)
    return commit, name if name in branches else None


def no_branch(field: str, name: str, branches: Sequence[str]) -> InvalidInput:
    """Say that there is no such branch, and which was probably meant."""
    closest = closest_name(name, branches)
    listed = ", ".join(sorted(branches)[:10]) or "none"
    return InvalidInput.field(
        field,
        f"names the branch {name!r}, which the repository does not have",
        hint=f"did you mean {closest!r}?" if closest else f"its branches: {listed}",
    )


def _free_branch(name: str, short: str, branches: Sequence[str]) -> str:
    # A folder of branches and a branch cannot have one name; some file systems ignore case.
    taken = {branch.casefold() for branch in branches}
    folders = {branch.casefold().split("/")[0] for branch in branches if "/" in branch}
    lead = "quarterdeck-" if "quarterdeck" in taken else "quarterdeck/"
    wanted = f"{lead}{name}"
    inside = any(branch.startswith(f"{wanted.casefold()}/") for branch in taken)
    is_taken = wanted.casefold() in taken | folders or inside
    return f"{wanted}-{short}" if is_taken else wanted


def slug(name: str) -> str:
    """Return a name that may stand in a path and in a branch."""
    text = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")
    return text or "agent"


def _short(unique: str) -> str:
    # The end: ids that begin with the time are alike at their beginning.
    letters = re.sub(r"[^A-Za-z0-9]", "", unique).lower()
    if not letters:
        raise InvalidInput.field("unique", "has no letters or digits")
    return letters[-_SHORT:]


def is_branch_name(name: str) -> bool:
    """Return whether git would take the name; the few rules that concern us."""
    bad = re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//", name)
    parts = name.split("/")
    return not (
        bad
        or name in {"", "@", "HEAD"}
        or name.startswith("-")
        or name.endswith(".")
        or any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
    )
