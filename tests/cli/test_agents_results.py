"""The work of agents, taken out of their workspaces."""

import subprocess
from pathlib import Path

import pytest

from tests.support.fleets import CommandedFleet
from tests.support.terminals import at_terminal

pytestmark = pytest.mark.xdist_group("commanded-fleet")


def git(place: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(place), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def project(fleet: CommandedFleet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of the demo project, with a remote."""
    fleet.create("founder")  # with the first agent, the repository is made
    place, remote = fleet.deck_home / "projects" / "demo", tmp_path_factory.mktemp("remote")
    git(remote, "init", "--quiet", "--bare")
    git(place, "remote", "add", "origin", str(remote))
    return place


def work(fleet: CommandedFleet, name: str, task: str) -> None:
    fleet.ok("agents", "create", name, "--project", "Demo", "--wait", task)


def test_a_diff_is_the_whole_patch(fleet: CommandedFleet, project: Path, tmp_path: Path) -> None:
    lines = "".join(f"line {number}\\n" for number in range(3000))
    work(fleet, "painter", f"/write long.txt {lines}last line\n/write README.md bye")
    patch = fleet.ok("agents", "diff", "painter")
    assert patch.count("\n+line ") == 3000

    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "--quiet", str(project), str(copy)], check=True)
    applied = subprocess.run(["git", "-C", str(copy), "apply"], input=patch, text=True, check=False)
    assert applied.returncode == 0
    assert (copy / "long.txt").read_text(encoding="utf-8").endswith("last line\n")

    stat = [line.split() for line in fleet.ok("agents", "diff", "painter", "--stat").splitlines()]
    assert ["README.md", "modified", "1"] in [line[:3] for line in stat]
    assert ["long.txt", "added", "3001", "0"] in stat
    answer = fleet.answer("agents", "diff", "painter")
    assert (answer["patch"], "page" in answer) == (patch, False)


def test_a_diff_has_colours_at_a_terminal_alone(fleet: CommandedFleet) -> None:
    work(fleet, "colourist", "/write new.txt hi")
    environ = {**fleet.environ, "TERM": "xterm"}
    shown = at_terminal("agents", "diff", "colourist", environ=environ).shown
    assert "\x1b[32m+hi" in shown
    plain = at_terminal("agents", "diff", "colourist", environ={**environ, "NO_COLOR": "1"}).shown
    assert "\n+hi" in plain
    assert "\x1b[32m" not in plain


def test_an_agent_that_changed_nothing_has_no_diff(fleet: CommandedFleet) -> None:
    work(fleet, "idler", "/say nothing to do")
    done = fleet.run("agents", "diff", "idler")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "idler has changed nothing\n")


def test_work_is_merged_into_the_branch_it_came_from(fleet: CommandedFleet, project: Path) -> None:
    work(fleet, "merger", "/write merged.txt yes")
    before = fleet.newest_call()
    merged = fleet.run("agents", "merge", "merger")
    assert (merged.returncode, merged.stderr) == (0, "Merged 'quarterdeck/merger' into 'main'\n")
    assert git(project, "show", "main:merged.txt") == "yes"
    assert fleet.calls_since(before) == ["cli.agents.merge"]
    assert fleet.run("agents", "merge", "merger", "--into", "nowhere").returncode in {2, 3}


def test_a_branch_is_pushed(fleet: CommandedFleet, project: Path) -> None:
    work(fleet, "pusher", "/write pushed.txt yes")
    pushed = fleet.answer("agents", "push", "pusher", "--branch", "for-review")
    assert (pushed["remote"], pushed["branch"]) == ("origin", "for-review")
    assert git(project, "ls-remote", "origin", "refs/heads/for-review").startswith(pushed["commit"])
    unknown = fleet.run("agents", "push", "pusher", "--remote", "elsewhere")
    assert (unknown.returncode, "hint: " in unknown.stderr) == (2, True)
