"""What a wait for agents comes to."""

import json

import pytest

from tests.support.fleets import CommandedFleet
from tests.support.terminals import at_terminal

pytestmark = pytest.mark.xdist_group("commanded-fleet")


def test_several_agents_are_waited_for_at_once(fleet: CommandedFleet) -> None:
    for name in ("pair-a", "pair-b"):
        fleet.ok("agents", "create", name, "--project", "Demo", f"/say {name} here")
    waited = fleet.answer("agents", "wait", "pair-a", "pair-b", "--timeout", "40")
    assert [agent["last_report"] for agent in waited["agents"]] == ["pair-a here", "pair-b here"]


def test_a_wait_whose_time_is_up_says_so_and_stops_nothing(fleet: CommandedFleet) -> None:
    fleet.ok("agents", "create", "patient", "--project", "Demo", "/wait go\n/say went on")
    late = fleet.run("agents", "wait", "patient", "--timeout", "1", "--json")
    assert (late.returncode, json.loads(late.stdout)["timed_out"]) == (7, True)
    fleet.await_status("patient", "busy")
    (fleet.workspace("patient") / "go").touch()
    assert fleet.ok("agents", "wait", "patient", "--timeout", "40") == "patient done: went on\n"


def test_a_failed_task_and_a_question_end_a_wait_with_another_exit_code(
    fleet: CommandedFleet,
) -> None:
    fleet.create("unlucky")
    failed = fleet.run("agents", "task", "unlucky", "/fail no luck today", "--wait")
    assert (failed.returncode, failed.stdout.split(":")[0]) == (4, "unlucky failed")

    asked = fleet.run("agents", "task", "unlucky", "/ask May I?", "--wait")
    assert (asked.returncode, asked.stdout) == (4, "unlucky asks: May I?\n")
    question = fleet.open_question("unlucky")["question_id"]
    assert f"quarterdeck questions answer {question}" in asked.stderr
    assert fleet.run("agents", "wait", "unlucky", "--until", "question").returncode == 0
    fleet.ok("questions", "answer", question, "--reject")


def test_at_a_terminal_a_line_shows_how_the_agent_stands(fleet: CommandedFleet) -> None:
    fleet.ok("agents", "create", "watched", "--project", "Demo", "/say busily working\n/slow 3")
    environ = {**fleet.environ, "TERM": "xterm"}
    session = at_terminal("agents", "wait", "watched", "--timeout", "40", environ=environ)
    assert session.code == 0
    assert "watched is " in session.shown
    assert "watched done" in session.shown


def test_a_wait_for_nobody_is_refused(fleet: CommandedFleet) -> None:
    assert fleet.run("agents", "wait").returncode == 2
    assert fleet.run("agents", "wait", "nobody").returncode == 3
