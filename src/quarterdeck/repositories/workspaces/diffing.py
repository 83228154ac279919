"""What an agent has changed, committed or not."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from quarterdeck.clients.git.program import Git
from quarterdeck.repositories.workspaces.checkout import Checkout
from quarterdeck.repositories.workspaces.copies import unchanged_copies
from quarterdeck.repositories.workspaces.models import (
    CommitLine,
    Diff,
    FileChange,
    WorkspacePlan,
    shown,
)
from quarterdeck.repositories.workspaces.nested import nested_repositories
from quarterdeck.repositories.workspaces.snapshot import outside, snapshot

MOST_PATCH_BYTES = 4 << 20
_MOST_LISTING_BYTES = 4 << 20
_MOST_COMMITS = 1000
_OPTIONS = ("--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--relative")
_KINDS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed", "T": "retyped"}


async def diff_checkout(plan: WorkspacePlan, checkout: Checkout, base: str | None) -> Diff:
    """Compare the files as they are with `base`, or with nothing if it is None."""
    nested = await nested_repositories(checkout)
    copies = await asyncio.to_thread(unchanged_copies, plan)
    left_out = await outside(checkout, nested, copies)
    async with snapshot(checkout, left_out, keep=False) as shot:
        start = base or await _empty_tree(shot.git)
        diff = await _compare(shot.git, start, shot.tree)
    commits = await _commits(checkout.git, base, checkout.head)
    return replace(
        diff,
        branch=checkout.branch,
        head=checkout.head,
        base=base,
        commits=commits[:_MOST_COMMITS],
        truncated=diff.truncated or len(commits) > _MOST_COMMITS,
        nested=tuple(map(shown, nested)),
    )


async def _compare(git: Git, start: str, tree: str) -> Diff:
    names = await git.read(
        "diff-tree", "-r", "-z", "--name-status", *_OPTIONS, start, tree, most=_MOST_LISTING_BYTES
    )
    counts = await git.read(
        "diff-tree", "-r", "-z", "--numstat", *_OPTIONS, start, tree, most=_MOST_LISTING_BYTES
    )
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    patch = await git.read(
        "diff-tree", "-r", "-p", *_OPTIONS, *prefixes, start, tree, most=MOST_PATCH_BYTES
    )
    return Diff(
        files=tuple(_files(names.fields, _counts(counts.fields))),
        patch=patch.stdout.decode("utf-8", "replace"),
        truncated=names.is_cut or counts.is_cut or patch.is_cut,
    )


def _files(
    fields: Sequence[str], counts: dict[str, tuple[int | None, int | None]]
) -> Iterator[FileChange]:
    rest = iter(fields)
    for letters in rest:
        old = next(rest, None) if letters[:1] in "RC" else None
        path = next(rest, None)
        if path is None:
            return  # the listing was cut in the middle of a file
        added, deleted = counts.get(path, (0, 0))
        yield FileChange(
            path=shown(path),
            old_path=shown(old) if old is not None else None,
            status=_KINDS.get(letters[:1], letters[:1]),
            added=added,
            deleted=deleted,
        )


def _counts(fields: Sequence[str]) -> dict[str, tuple[int | None, int | None]]:
    counts: dict[str, tuple[int | None, int | None]] = {}
    rest = iter(fields)
    for line in rest:
        added, _, more = line.partition("\t")
        deleted, _, path = more.partition("\t")
        if not path:  # renamed: the old and the new name follow
            next(rest, None)
            path = next(rest, "")
        binary = added == "-"
        counts[path] = (None, None) if binary else (int(added or 0), int(deleted or 0))
    return counts


async def _commits(git: Git, base: str | None, head: str | None) -> tuple[CommitLine, ...]:
    if not base or not head:
        return ()
    form = "--format=%H%x09%aI%x09%s"
    answer = await git.read("log", "-z", form, f"-{_MOST_COMMITS + 1}", f"{base}..{head}")
    rows = [line.split("\t", 2) for line in answer.fields]
    return tuple(CommitLine(name, shown(subject), date) for name, date, subject in rows)


async def _empty_tree(git: Git) -> str:
    return (await git.change("hash-object", "-w", "-t", "tree", "--stdin")).text
