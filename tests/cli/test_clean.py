"""What is left of agents that are gone, and what must not be touched."""

import gzip
from pathlib import Path

import pytest

from tests.support.fleets import CommandedFleet

pytestmark = pytest.mark.xdist_group("commanded-fleet")


def test_an_agent_is_forgotten_once_it_was_deleted_long_enough_ago(fleet: CommandedFleet) -> None:
    fleet.create("former", "/say unforgettable")
    (agent_id,) = [
        agent["workspace_id"]
        for agent in fleet.answer("agents", "list")["agents"]
        if agent["name"] == "former"
    ]
    archived = fleet.deck_home / "logs" / "agents" / agent_id / "1-2.jsonl.gz"
    archived.parent.mkdir(parents=True)
    archived.write_bytes(gzip.compress(b"old entries"))
    errors = fleet.deck_home / "logs" / "agents" / f"{agent_id}.stderr"
    fleet.ok("agents", "delete", "former", "--yes")
    errors.write_text("late words", encoding="utf-8")

    assert fleet.answer("clean")["agents"] == []  # the settings keep it for a month
    seen = fleet.answer("clean", "--older-than", "0d", "--dry-run")
    assert "former" in seen["agents"]
    assert seen["freed_bytes"] > 0
    assert "former" in fleet.ok("agents", "list", "--status", "deleted")

    done = fleet.run("clean", "--older-than", "0d")
    assert "Removed what was kept of the agent 'former'" in done.stderr
    assert "freed" in done.stderr
    assert "former" not in fleet.ok("agents", "list", "--status", "deleted")
    assert not archived.parent.exists()
    assert not errors.exists()


def test_living_agents_and_their_workspaces_stay(fleet: CommandedFleet) -> None:
    fleet.create("present", "/write here.txt still")
    answer = fleet.answer("clean", "--older-than", "0d")
    assert "present" not in answer["agents"]
    assert (fleet.workspace("present") / "here.txt").read_text(encoding="utf-8") == "still\n"
    assert fleet.run("agents", "diff", "present").returncode == 0


def test_a_folder_of_nobody_goes_only_when_nothing_is_in_it(fleet: CommandedFleet) -> None:
    fleet.ok("agents", "list")
    workspaces = fleet.deck_home / "workspaces"
    empty, full = workspaces / "empty-1", workspaces / "full-1"
    removed, half_made = workspaces / ".gone-1.removed", workspaces / "half-1"
    for folder in (empty, full, removed, half_made):
        folder.mkdir(parents=True)
        (folder / "file.txt").touch() if folder != empty else None
    (workspaces / ".half-1.making").touch()

    answer = fleet.answer("clean")
    assert str(full) in [kept["path"] for kept in answer["kept"]]
    assert {Path(path).name for path in answer["folders"]} == {"empty-1", "gone-1", "half-1"}
    assert full.joinpath("file.txt").exists()
    assert [each for each in (empty, removed, half_made) if each.exists()] == []
    assert not (workspaces / ".half-1.making").exists()
    told = fleet.run("clean").stderr
    assert f"Kept {full}, which belongs to no agent: there are files in it" in told
    (full / "file.txt").unlink()
    fleet.ok("clean")
    assert not full.exists()


def test_cleaning_is_traced_and_a_look_at_it_is_not(fleet: CommandedFleet) -> None:
    fleet.ok("clean")
    before = fleet.newest_call()
    fleet.ok("clean", "--dry-run")
    assert fleet.calls_since(before) == []
    fleet.ok("clean")
    assert fleet.calls_since(before) == ["cli.clean"]


def test_a_time_that_is_none_is_refused(fleet: CommandedFleet) -> None:
    refused = fleet.run("clean", "--older-than", "soon")
    assert (refused.returncode, "such as 45m, 12h, 30d" in refused.stderr) == (2, True)
