"""The files of a work tree as a tree of git, taken beside the index and touching neither."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from quarterdeck.clients.git.program import Git
from quarterdeck.repositories.workspaces.checkout import Checkout
from quarterdeck.repositories.workspaces.places import private

# Work is only removed after it was saved, so it has to be on the disk by then.
_DURABLE = ("-c", "core.fsync=committed,loose-object", "-c", "core.fsyncMethod=batch")


@dataclass(frozen=True)
class Snapshot:
    """`tree` has what the files say; `staged` what the index says, if both differ from HEAD."""

    git: Git
    tree: str
    staged: str | None


@asynccontextmanager
async def snapshot(
    checkout: Checkout, left_out: Sequence[str] = (), *, keep: bool
) -> AsyncGenerator[Snapshot]:
    """Take the files but for `left_out`; unless it is to be kept, the repository gets nothing."""
    with tempfile.TemporaryDirectory(prefix="quarterdeck-") as folder:
        git = checkout.git.having(GIT_INDEX_FILE=str(Path(folder, "index")))
        if not keep:
            git = await _with_own_objects(git, private(Path(folder, "objects")))
        await _fill_index(git, checkout, Path(folder, "index"))
        staged = await git.ask("write-tree")
        await _add_all(git, left_out)
        tree = (await git.change(*_DURABLE, "write-tree")).text
        differs = not staged.code and staged.text != tree
        differs = differs and staged.text != await tree_of(git, checkout.head)
        yield Snapshot(git, tree, staged.text if differs else None)


async def _with_own_objects(git: Git, folder: Path) -> Git:
    answer = await git.read("rev-parse", "--path-format=absolute", "--git-path", "objects")
    return git.having(
        GIT_OBJECT_DIRECTORY=str(folder),
        GIT_ALTERNATE_OBJECT_DIRECTORIES=f'"{_quoted(answer.text)}"',
    )


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')


async def _fill_index(git: Git, checkout: Checkout, index: Path) -> None:
    if checkout.index.is_file():
        # What the index knows of the files on disk spares reading them all.
        await asyncio.to_thread(shutil.copyfile, checkout.index, index)
        listed = await git.ask("ls-files", "-v", "-z")
        if not listed.code:
            await _look_at_hidden(git, checkout.path, listed.fields)
            return
    # A whole new one takes the place of an index that cannot be read.
    await git.change("read-tree", "--empty")
    if checkout.head:
        await git.change("read-tree", checkout.head)


async def _look_at_hidden(git: Git, top: Path, listed: Sequence[str]) -> None:
    """Take back requests not to look at files, which would hide work."""
    assumed = [line[2:] for line in listed if line[0].islower()]
    skipped = _present(top, [line[2:] for line in listed if line[0] in "Ss"])
    for option, names in (("assume-unchanged", assumed), ("skip-worktree", skipped)):
        if names:
            await git.change("update-index", f"--no-{option}", "-z", "--stdin", stdin=_z(names))


def _present(top: Path, names: Sequence[str]) -> list[str]:
    return [name for name in names if os.path.lexists(top / name)]


async def _add_all(git: Git, left_out: Sequence[str]) -> None:
    paths = [".", *(f":(exclude,literal){name}" for name in left_out)]
    options = ("-A", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
    await git.change(*_DURABLE, "add", *options, stdin=_z(paths))


async def outside(checkout: Checkout, nested: Sequence[str], copies: Sequence[str]) -> list[str]:
    """Return what is no part of a snapshot: nested repositories, and copies git does not track."""
    if not nested and not copies:
        return []
    answer = await checkout.git.ask("ls-files", "-s", "-z")
    tracked = {name: mode[:6] for mode, _, name in (f.partition("\t") for f in answer.fields)}
    folders = {parent for name in tracked for parent in _parents(name)}
    left_out = [name for name in nested if tracked.get(name) or name not in folders]
    return left_out + [name for name in copies if name not in tracked]


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


async def tree_of(git: Git, commit: str | None) -> str | None:
    if not commit:
        return None
    return (await git.read("rev-parse", f"{commit}^{{tree}}")).text


def _z(names: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)
