"""`kill -9` in the middle of making and of removing a worktree, at every call of git."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.models import WorkspacePlan
from tests.repositories.workspaces.conftest import unheard
from tests.support.git import branches, entries, git, new_repository, worktrees
from tests.support.repository import ROOT

WORKER = ROOT / "tests" / "support" / "workspace_worker.py"
STORY = "once\nupon\na time\n"
# Says that its turn has come, and waits; a reader of the gate that is never opened.
WRAPPER = """#!/bin/sh
count=$(( $(cat "$STAGE/count" 2>/dev/null || echo 0) + 1 ))
echo $count > "$STAGE/count"
if [ "$count" = "$STOP_AT" ]; then
  echo $$ > "$STAGE/git.pid"
  echo reached > "$STAGE/reached"
  cat "$STAGE/gate" > /dev/null
fi
exec "$REAL_GIT" "$@"
"""
BLOCKING_FILTER = """#!/bin/sh
ps -o pgid= -p $$ > "$STAGE/git.pid"
echo reached > "$STAGE/reached"
cat "$STAGE/gate"
"""


@dataclass(frozen=True)
class Stage:
    """A place where a worker and its git are stopped at a known point."""

    folder: Path
    home: Path
    repository: Path

    def environment(self) -> dict[str, str]:
        real = shutil.which("git")
        assert real
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "STAGE": str(self.folder), "REAL_GIT": real}

    @contextmanager
    def worker(self, action: str, **variables: str) -> Generator[subprocess.Popen[bytes]]:
        command = [sys.executable, WORKER, self.home, self.repository, action]
        environment = {**self.environment(), "PYTHONPATH": str(ROOT), **variables}
        with subprocess.Popen(command, env=environment, start_new_session=True) as process:
            try:
                yield process
            finally:
                self.kill(process)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End the worker and the git that it waits for."""
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        with suppress(FileNotFoundError, ProcessLookupError, ValueError):
            os.killpg(int((self.folder / "git.pid").read_text(encoding="ascii")), signal.SIGKILL)
        process.wait()

    def reached(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait until the worker is stopped, or has ended without that."""
        opened = os.open(self.folder / "reached", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while process.poll() is None:
                with suppress(BlockingIOError):
                    if os.read(opened, 100):
                        return True
            return False
        finally:
            os.close(opened)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return new_stage(tmp_path / "stage")


def new_stage(folder: Path) -> Stage:
    folder.mkdir()
    (folder / "git").write_text(WRAPPER, encoding="utf-8")
    (folder / "git").chmod(0o755)
    os.mkfifo(folder / "reached")
    os.mkfifo(folder / "gate")
    (folder / "home").mkdir()
    repository = new_repository(folder / "project").resolve()
    return Stage(folder, (folder / "home").resolve(), repository)


async def planned(stage: Stage) -> WorkspacePlan:
    plan = await Workspaces(stage.home).plan(
        "sony", "abcd1234", repository=stage.repository, folder=None
    )
    assert plan.branch == "quarterdeck/sony"
    return plan


@pytest.mark.timeout(180)
async def test_a_worktree_whose_making_was_killed_anywhere_is_made_by_the_next_try(
    tmp_path: Path,
) -> None:
    number = 0
    for number in range(1, 100):
        stage = new_stage(tmp_path / str(number))
        plan = await planned(stage)
        with stage.worker("prepare", STOP_AT=str(number)) as worker:
            if not stage.reached(worker):
                break
        await Workspaces(stage.home).prepare(plan, unheard)
        assert (plan.path / "story.txt").read_text(encoding="utf-8") == STORY
        assert git(plan.path, "status", "--porcelain", "--branch") == "## quarterdeck/sony"
        assert worktrees(stage.repository) == [plan.path.name]
        assert entries(stage.home / "workspaces") == [plan.path.name]
    assert number > 5


@pytest.mark.timeout(180)
async def test_a_worktree_whose_making_was_killed_anywhere_leaves_nothing_when_it_is_removed(
    tmp_path: Path,
) -> None:
    number = 0
    for number in range(1, 100):
        stage = new_stage(tmp_path / str(number))
        plan = await planned(stage)
        with stage.worker("prepare", STOP_AT=str(number)) as worker:
            if not stage.reached(worker):
                break
        assert await Workspaces(stage.home).remove(plan, name="sony") is None
        assert_nothing_is_left(stage)
        assert branches(stage.repository) == ["main"]
    assert number > 5


@pytest.mark.timeout(180)
@pytest.mark.parametrize("first", [1, 2, 3, 4])
async def test_a_worktree_whose_removal_was_killed_anywhere_is_removed_without_losing_work(
    tmp_path: Path, first: int
) -> None:
    number = 0
    for number in range(first, 100, 4):
        stage = new_stage(tmp_path / str(number))
        plan = await worked_in(stage)
        with stage.worker("remove", STOP_AT=str(number)) as worker:
            if not stage.reached(worker):
                break
        await assert_removal_ends_well(stage, plan)
    assert number > 20


async def test_a_checkout_that_was_killed_half_way_is_made_again(stage: Stage) -> None:
    plan = await planned_with_blocking_checkout(stage)
    with stage.worker("prepare") as worker:
        assert stage.reached(worker)
        admin = stage.repository / ".git" / "worktrees" / plan.path.name
        assert (admin / "index.lock").exists()
        assert not (plan.path / "zzz.txt").exists()
    git(stage.repository, "config", "filter.wait.smudge", "cat")
    await Workspaces(stage.home).prepare(plan, unheard)
    assert git(plan.path, "status", "--porcelain", "--branch") == "## quarterdeck/sony"
    assert (plan.path / "zzz.txt").exists()


async def test_a_checkout_that_was_killed_half_way_is_undone_by_a_removal(stage: Stage) -> None:
    plan = await planned_with_blocking_checkout(stage)
    with stage.worker("prepare") as worker:
        assert stage.reached(worker)
    assert await Workspaces(stage.home).remove(plan, name="sony") is None
    assert_nothing_is_left(stage)
    assert branches(stage.repository) == ["main"]


async def test_a_git_that_outlives_its_killed_daemon_is_waited_for(stage: Stage) -> None:
    plan = await planned_with_blocking_checkout(stage)
    with stage.worker("prepare") as worker:
        assert stage.reached(worker)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        git(stage.repository, "config", "filter.wait.smudge", "cat")
        async with asyncio.TaskGroup() as group:
            next_try = group.create_task(Workspaces(stage.home).prepare(plan, unheard))
            gate = group.create_task(asyncio.to_thread((stage.folder / "gate").write_text, "late"))
            await gate
            assert not next_try.done()
    assert git(plan.path, "status", "--porcelain", "--branch") == "## quarterdeck/sony"
    assert (plan.path / "held.txt").read_text(encoding="utf-8") == "held\n"


async def test_a_removal_that_was_killed_among_the_files_saves_no_deletions(stage: Stage) -> None:
    plan = await worked_in(stage)
    with stage.worker("remove", STOP_HALF_WAY="yes") as worker:
        assert stage.reached(worker)
        left = stage.home / "workspaces" / f".{plan.path.name}.removed"
        assert entries(left) == [".git", ".gitignore", "new.txt"]
    await assert_removal_ends_well(stage, plan)


async def test_a_setup_that_outlived_its_killed_daemon_is_ended(stage: Stage) -> None:
    plan = await planned(stage)
    setup = f'echo $$ > "{stage.folder}/git.pid"; echo > "{stage.folder}/reached"; exec sleep 600'
    with stage.worker("prepare", SETUP=setup) as worker:
        assert stage.reached(worker)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        left = int((stage.folder / "git.pid").read_text(encoding="ascii"))
        await Workspaces(stage.home).prepare(plan, unheard)
        with anyio.fail_after(20):
            while is_running(left):  # noqa: ASYNC110 - it was killed, and takes a moment to be gone
                await anyio.sleep(0.02)


def is_running(pid: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return done.stdout.strip() not in {b"", b"Z", b"Zs"}


async def planned_with_blocking_checkout(stage: Stage) -> WorkspacePlan:
    """Have the checkout stop at `held.txt`, after some files and before others."""
    script = stage.folder / "filter"
    script.write_text(BLOCKING_FILTER, encoding="utf-8")
    script.chmod(0o755)
    for name, text in {
        ".gitattributes": "held.txt filter=wait\n",
        "held.txt": "held\n",
        "zzz.txt": "last\n",
    }.items():
        (stage.repository / name).write_text(text, encoding="utf-8")
    git(stage.repository, "add", ".")
    git(stage.repository, "commit", "--message=Hold")
    git(stage.repository, "config", "filter.wait.smudge", str(script))
    return await planned(stage)


async def worked_in(stage: Stage) -> WorkspacePlan:
    plan = await planned(stage)
    await Workspaces(stage.home).prepare(plan, unheard)
    git(plan.path, "commit", "--allow-empty", "--message=Committed")
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    new_repository(plan.path / "inner")
    return plan


async def assert_removal_ends_well(stage: Stage, plan: WorkspacePlan) -> None:
    saved = await Workspaces(stage.home).remove(plan, name="sony")
    assert saved
    assert saved.branch == "quarterdeck-saved/sony-abcd1234"
    assert branches(stage.repository) == ["main", saved.branch]
    listed = git(stage.repository, "ls-tree", "-r", "--name-only", saved.branch).split()
    assert listed == [".gitignore", "new.txt", "story.txt"]
    assert git(stage.repository, "log", "-1", "--format=%s", f"{saved.branch}^") == "Committed"
    assert saved.folder
    assert git(saved.folder / "inner", "log", "--format=%s") == "Begin"
    assert_nothing_is_left(stage)


def assert_nothing_is_left(stage: Stage) -> None:
    folder = stage.home / "workspaces"
    assert entries(folder) == []
    assert worktrees(stage.repository) == []
