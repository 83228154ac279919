"""Worktrees of agents, and work in them, when the daemon dies or git fails halfway."""

import os
import shutil
import signal
from pathlib import Path

import anyio
import pytest

from tests.support.daemons import bridge
from tests.support.git import branches, entries, git, worktrees
from tests.support.runtimes import eventually
from tests.support.ships import Json, Ship, Yard

pytestmark = [
    pytest.mark.timeout(120),  # real daemons and agents, on a busy machine
    pytest.mark.xdist_group("fleet-worktrees"),
]

# Before the chosen command it says who it is and waits for a gate that nobody opens, or fails.
WRAPPER = """#!/bin/sh
if [ -e {stage}/stop ] && echo "$*" | grep -q -- "$(cat {stage}/stop)"; then
  echo $$ > {stage}/pid.draft && mv {stage}/pid.draft {stage}/pid
  read line < {stage}/gate
fi
if [ -e {stage}/fail ] && echo "$*" | grep -q -- "$(cat {stage}/fail)"; then
  echo "fatal: unable to write: Read-only file system" >&2
  exit 128
fi
exec {git} "$@"
"""


class GitStage:
    """A git in the daemon's way that stops or fails at a chosen command."""

    def __init__(self, yard: Yard, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        os.mkfifo(folder / "gate")
        program = folder / "git"
        program.write_text(WRAPPER.format(stage=folder, git=shutil.which("git")), encoding="utf-8")
        program.chmod(0o700)
        yard.environ["PATH"] = f"{folder}{os.pathsep}{os.defpath}"

    def stop_at(self, command: str) -> None:
        (self._folder / "stop").write_text(command, encoding="utf-8")

    def fail_at(self, command: str) -> None:
        (self._folder / "fail").write_text(command, encoding="utf-8")

    def mend(self) -> None:
        for file in ("stop", "fail"):
            (self._folder / file).unlink(missing_ok=True)

    async def is_reached(self) -> None:
        """Wait until git has come there."""
        await eventually((self._folder / "pid").exists)

    def kill_there(self, ship: Ship) -> None:
        """End the daemon and its git, as a power loss would."""
        ship.kill()
        os.kill(int((self._folder / "pid").read_text(encoding="utf-8")), signal.SIGKILL)
        self.mend()


@pytest.fixture
def stage(yard: Yard, tmp_path: Path) -> GitStage:
    return GitStage(yard, tmp_path / "stage")


async def test_an_agent_whose_worktree_was_being_made_is_finished_by_the_next_start(
    yard: Yard, stage: GitStage
) -> None:
    async with yard.sailing() as ship:
        stage.stop_at("worktree add")
        await ship.create("sony", "/write made.txt yes", "/say the first task ran", on="story")
        await stage.is_reached()
        stage.kill_there(ship)
    async with yard.sailing() as ship:
        (agent,) = await ship.settled("sony")
        assert (agent["status"], agent["last_report"]) == ("idle", "the first task ran")
        diff = await ship.answer("show_agent_diff", agent_name="sony")
        assert [file["path"] for file in diff["files"]] == ["made.txt"]
    assert len(worktrees(yard.repository)) == 1
    assert branches(yard.repository) == ["main", "quarterdeck/sony"]


@pytest.mark.parametrize("command", ["commit-tree", "update-ref -d"])
async def test_an_agent_that_was_being_deleted_is_gone_after_the_next_start_and_its_work_is_not(
    yard: Yard, stage: GitStage, command: str
) -> None:
    async with yard.sailing() as ship:
        await working(ship, "sony")
        stage.stop_at(command)
        with bridge(home=yard.home) as client:
            client.ask("delete_agent", agent_name="sony")
            await stage.is_reached()
        # Not before the client is gone, which would start another daemon.
        stage.kill_there(ship)
    async with yard.sailing() as ship:
        deleted = await is_deleted(ship)
    assert_nothing_is_left(yard)
    assert_kept(yard.repository, branch_in(deleted["reason"]))


async def test_deleting_an_agent_keeps_what_it_did_not_commit(yard: Yard) -> None:
    async with yard.sailing() as ship:
        await working(ship, "sony")
        deleted = await ship.answer("delete_agent", agent_name="sony")
        assert deleted["saved_branch"] in deleted["message"]
        await ship.create("sony", "/say the name is free", on="story")
        await ship.settled("sony")
    assert_kept(yard.repository, deleted["saved_branch"])


async def test_an_agent_whose_work_cannot_be_saved_is_not_removed_until_it_can(
    yard: Yard, stage: GitStage
) -> None:
    async with yard.sailing() as ship:
        await working(ship, "sony")
        stage.fail_at("commit-tree")
        error = await ship.error("delete_agent", agent_name="sony")
        assert error["code"] == "SERVICE_UNAVAILABLE"
        assert "nothing was removed" in str(error)
        assert "Read-only file system" in str(error)
        (workspace,) = (yard.deck / "workspaces").glob("*sony*")
        assert (workspace / "new.txt").read_text(encoding="utf-8") == "untracked\n"
        shown = await ship.show("sony")
        assert shown["status"] == "deleting"
        assert "could not be deleted" in shown["reason"]
        stage.mend()
        deleted = await ship.answer("delete_agent", agent_name="sony")
    assert_nothing_is_left(yard)
    assert_kept(yard.repository, deleted["saved_branch"])


async def working(ship: Ship, name: str) -> None:
    """Have an agent that has changed a file, and made another, and committed neither."""
    await ship.create(name, "/write story.txt changed", "/write new.txt untracked", on="story")
    await ship.settled(name)


async def is_deleted(ship: Ship) -> Json:
    with anyio.fail_after(30):
        while True:
            listed = await ship.answer("list_agents", status_filter="deleted")
            if listed["agents"]:
                return listed["agents"][0]
            await anyio.sleep(0.05)


def branch_in(reason: str) -> str:
    """Return the branch that a reason names."""
    return reason.split("'")[1]


def assert_nothing_is_left(yard: Yard) -> None:
    assert worktrees(yard.repository) == []
    assert entries(yard.deck / "workspaces") == []
    assert "quarterdeck/sony" not in branches(yard.repository)


def assert_kept(repository: Path, branch: str) -> None:
    assert git(repository, "show", f"{branch}:story.txt") == "changed"
    assert git(repository, "show", f"{branch}:new.txt") == "untracked"
