import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from quarterdeck.errors import Conflict, InvalidInput, SetupFailed
from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.locks import RepositoryLocks
from quarterdeck.repositories.workspaces.models import WorkspacePlan
from tests.repositories.workspaces.conftest import unheard
from tests.support.git import branches, git, worktrees
from tests.support.repository import ROOT

WORKER = ROOT / "tests" / "support" / "workspace_worker.py"


class Heard:
    """What was reported."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def __call__(self, line: str) -> None:
        self.lines.append(line)


async def planned(
    workspaces: Workspaces, repository: Path, *, copy: tuple[str, ...] = (), setup: str = ""
) -> WorkspacePlan:
    return await workspaces.plan(
        "sony", "abcd1234", repository=repository, folder=None, copy=copy, setup=setup or None
    )


async def test_a_worktree_has_the_files_of_its_base_on_the_agents_branch(
    plan: WorkspacePlan,
) -> None:
    assert git(plan.path, "status", "--porcelain", "--branch") == "## quarterdeck/sony"
    assert git(plan.path, "rev-parse", "HEAD") == plan.base
    assert (plan.path / "story.txt").exists()


async def test_preparing_again_leaves_the_work_alone_and_runs_no_setup_again(
    workspaces: Workspaces, repository: Path
) -> None:
    plan = await planned(workspaces, repository, setup="echo run >> runs.log")
    await workspaces.prepare(plan, unheard)
    (plan.path / "story.txt").write_text("mine\n", encoding="utf-8")
    await workspaces.prepare(plan, unheard)
    assert (plan.path / "story.txt").read_text(encoding="utf-8") == "mine\n"
    assert (plan.path / "runs.log").read_text(encoding="utf-8") == "run\n"


async def test_preparing_again_takes_the_locks_of_a_dead_git_away(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    lock = repository / ".git" / "worktrees" / plan.path.name / "index.lock"
    lock.touch()
    await workspaces.prepare(plan, unheard)
    git(plan.path, "add", ".")


async def test_a_worktree_of_a_bare_repository_is_made_and_removed(
    workspaces: Workspaces, repository: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    plan = await planned(workspaces, tmp_path / "bare.git", copy=(".env",))
    await workspaces.prepare(plan, unheard)
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    saved = await workspaces.remove(plan, name="sony")
    assert saved
    assert git(tmp_path / "bare.git", "show", f"{saved.branch}:new.txt") == "new"


async def test_a_branch_that_appeared_since_the_plan_is_not_taken_over(
    workspaces: Workspaces, repository: Path
) -> None:
    plan = await planned(workspaces, repository)
    git(repository, "commit", "--allow-empty", "--message=Theirs")
    git(repository, "branch", "quarterdeck/sony")
    with pytest.raises(Conflict, match="appeared"):
        await workspaces.prepare(plan, unheard)
    await workspaces.remove(plan, name="sony")
    assert git(repository, "log", "-1", "--format=%s", "main") == "Theirs"


async def test_listed_files_are_copied_with_their_modes(
    workspaces: Workspaces, repository: Path
) -> None:
    (repository / ".env").write_text("KEY=value\n", encoding="utf-8")
    (repository / ".env").chmod(0o600)
    (repository / "ignored" / "deep").mkdir(parents=True)
    (repository / "ignored" / "deep" / "tool").write_text("#!/bin/sh\n", encoding="utf-8")
    (repository / "ignored" / "deep" / "tool").chmod(0o755)
    plan = await planned(workspaces, repository, copy=(".env", "ignored", "*.absent"))
    await workspaces.prepare(plan, unheard)
    assert (plan.path / ".env").read_text(encoding="utf-8") == "KEY=value\n"
    assert stat.S_IMODE((plan.path / ".env").stat().st_mode) == 0o600
    assert os.access(plan.path / "ignored" / "deep" / "tool", os.X_OK)


async def test_a_copy_never_follows_a_link_out_of_the_repository(
    workspaces: Workspaces, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("outside\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "secret").write_text("outside\n", encoding="utf-8")
    (repository / "a.link").symlink_to(tmp_path / "secret")
    (repository / "ignored").symlink_to(tmp_path / "folder")
    os.mkfifo(repository / "a.pipe")
    plan = await planned(workspaces, repository, copy=("a.*", "ignored/*", "**/secret", ".git/*"))
    heard = Heard()
    await workspaces.prepare(plan, heard)
    assert sorted(path.name for path in plan.path.iterdir()) == [".git", ".gitignore", "story.txt"]
    assert "a.link is not copied: it leads out of the repository" in heard.lines
    assert (plan.path / ".git").is_file()


async def test_a_copy_is_no_work_of_the_agent_until_it_is_changed(
    workspaces: Workspaces, repository: Path
) -> None:
    (repository / "local.toml").write_text("a = 1\n", encoding="utf-8")
    plan = await planned(workspaces, repository, copy=("local.toml",))
    await workspaces.prepare(plan, unheard)
    assert (await workspaces.diff(plan)).files == ()
    assert await workspaces.save(plan, "sony") is None
    (plan.path / "local.toml").write_text("a = 2\n", encoding="utf-8")
    assert [file.path for file in (await workspaces.diff(plan)).files] == ["local.toml"]


async def test_setup_runs_in_the_workspace_and_is_reported_by_line(
    workspaces: Workspaces, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_DATABASE_URL", "not for a project")
    setup = 'echo one; echo two >&2; printf "%s" "[$QUARTERDECK_DATABASE_URL]"; pwd > where.log'
    plan = await planned(workspaces, repository, setup=setup)
    heard = Heard()
    await workspaces.prepare(plan, heard)
    assert heard.lines == ["one", "two", "[]"]
    assert (plan.path / "where.log").read_text(encoding="utf-8").strip() == str(plan.path)


async def test_a_setup_that_fails_says_its_last_lines_and_is_tried_again(
    workspaces: Workspaces, repository: Path, tmp_path: Path
) -> None:
    plan = await planned(workspaces, repository, setup=f"echo trying; test -e '{tmp_path}/mended'")
    with pytest.raises(SetupFailed, match="ended with code 1") as failed:
        await workspaces.prepare(plan, unheard)
    assert failed.value.details["output"] == ["trying"]
    (tmp_path / "mended").touch()
    await workspaces.prepare(plan, unheard)
    assert worktrees(repository) == [plan.path.name]


async def test_a_setup_that_failed_leaves_nothing_when_its_workspace_is_removed(
    workspaces: Workspaces, repository: Path, home: Path
) -> None:
    plan = await planned(workspaces, repository, setup="echo made > made.txt; exit 3")
    with pytest.raises(SetupFailed):
        await workspaces.prepare(plan, unheard)
    assert await workspaces.remove(plan, name="sony") is None
    assert list((home / "workspaces").iterdir()) == []
    assert branches(repository) == ["main"]


async def test_a_setup_that_takes_too_long_is_ended_with_all_it_started(
    home: Path, repository: Path, tmp_path: Path
) -> None:
    workspaces = Workspaces(home, setup_seconds=0.5)
    os.mkfifo(tmp_path / "alive")
    plan = await planned(
        workspaces, repository, setup=f"exec 3> '{tmp_path}/alive'; sleep 600 & wait"
    )
    watching = asyncio.create_task(asyncio.to_thread((tmp_path / "alive").read_bytes))
    with pytest.raises(SetupFailed, match=r"within 0\.5 seconds"):
        await workspaces.prepare(plan, unheard)
    await watching  # it ends when the last writer is gone


async def test_a_setup_leaves_nothing_running_in_the_background(
    workspaces: Workspaces, repository: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "alive")
    setup = f"exec 3> '{tmp_path}/alive'; sleep 600 & echo done"
    plan = await planned(workspaces, repository, setup=setup)
    watching = asyncio.create_task(asyncio.to_thread((tmp_path / "alive").read_bytes))
    heard = Heard()
    await workspaces.prepare(plan, heard)
    await watching
    assert heard.lines == ["done"]


async def test_a_cancelled_setup_is_ended_with_all_it_started(
    workspaces: Workspaces, repository: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "alive")
    setup = f"exec 3> '{tmp_path}/alive'; sleep 600 & echo started; wait"
    plan = await planned(workspaces, repository, setup=setup)
    watching = asyncio.create_task(asyncio.to_thread((tmp_path / "alive").read_bytes))
    started = asyncio.Event()

    async def heard(_line: str) -> None:
        started.set()

    preparing = asyncio.create_task(workspaces.prepare(plan, heard))
    await started.wait()
    preparing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await preparing
    await watching
    assert await workspaces.remove(plan, name="sony") is None


async def test_a_folder_in_use_is_never_changed(workspaces: Workspaces, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    plan = await workspaces.plan("sony", "abcd1234", repository=None, folder=tmp_path / "notes")
    await workspaces.prepare(plan, unheard)
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    assert await workspaces.save(plan, "sony") is None
    assert await workspaces.remove(plan, name="sony") is None
    assert [path.name for path in plan.path.iterdir()] == ["new.txt"]
    for action in (workspaces.merge, workspaces.push):
        with pytest.raises(InvalidInput, match="plain folder"):
            await action(plan)


async def test_a_folder_of_the_agents_own_is_kept_unless_nothing_is_in_it(
    workspaces: Workspaces, home: Path
) -> None:
    plan = await workspaces.plan("sony", "abcd1234", repository=None, folder=None)
    await workspaces.prepare(plan, unheard)
    assert await workspaces.remove(plan, name="sony") is None
    await workspaces.prepare(plan, unheard)
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    saved = await workspaces.remove(plan, name="sony")
    assert saved == await workspaces.remove(plan, name="sony")
    assert saved
    assert saved.folder == home / "saved" / "sony-abcd1234"
    assert (home / "saved" / "sony-abcd1234" / "new.txt").exists()


async def test_twenty_agents_get_their_worktrees_at_once(
    workspaces: Workspaces, repository: Path
) -> None:
    async def agent(number: int) -> WorkspacePlan:
        plan = await workspaces.plan(
            f"a{number}", f"abcd{number:04}", repository=repository, folder=None
        )
        await workspaces.prepare(plan, unheard)
        (plan.path / "new.txt").write_text(f"{number}\n", encoding="utf-8")
        return plan

    plans = await asyncio.gather(*(agent(number) for number in range(20)))
    assert len(worktrees(repository)) == 20
    assert all(git(plan.path, "branch", "--show-current") == plan.branch for plan in plans)
    saved = await asyncio.gather(*(workspaces.remove(plan, name="a") for plan in plans))
    contents = {git(repository, "show", f"{one.branch}:new.txt") for one in saved if one}
    assert contents == {str(number) for number in range(20)}
    assert worktrees(repository) == []


async def test_processes_that_prepare_the_same_workspace_take_turns(
    home: Path, repository: Path
) -> None:
    command = [sys.executable, WORKER, home, repository, "prepare"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SETUP": "echo run >> runs.log"}
    started = [await _started(command, environment) for _ in range(2)]
    assert [await process.wait() for process in started].count(0) >= 1
    place = home / "workspaces" / "sony-abcd1234"
    assert (place / "runs.log").read_text(encoding="utf-8") == "run\n"
    assert worktrees(repository) == [place.name]


async def _started(
    command: Sequence[object], environment: dict[str, str]
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *map(str, command), env=environment, stderr=subprocess.DEVNULL
    )


async def test_waiting_for_another_process_can_be_cancelled(
    workspaces: Workspaces, repository: Path, home: Path
) -> None:
    plan = await planned(workspaces, repository)
    async with RepositoryLocks(home / "run" / "locks").hold(repository / ".git"):
        waiting = asyncio.create_task(workspaces.prepare(plan, unheard))
        done, _ = await asyncio.wait([waiting], timeout=0.3)
        assert not done
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await workspaces.prepare(plan, unheard)
