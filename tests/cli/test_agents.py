"""Agents, created and looked after from the command line."""

import json

import pytest

from tests.support.fleets import CommandedFleet
from tests.support.terminals import at_terminal

# They share a daemon.
pytestmark = pytest.mark.xdist_group("commanded-fleet")


def test_an_agent_is_created_waited_for_and_shown(fleet: CommandedFleet) -> None:
    created = fleet.run(
        "agents", "create", "sony", "--project", "demo", "--wait", "Fix", "the", "login", "test"
    )
    assert created.returncode == 0, created.stderr
    assert created.stdout == "sony done: Done: the task is in NOTES.md.\n"
    assert "Agent 'sony' created successfully" in created.stderr

    (row,) = [line for line in fleet.ok("agents", "list").splitlines() if line.startswith("sony ")]
    assert row.split() == ["sony", "idle", "Demo", "coder", "Fix", "the", "login", "test"]
    assert "quarterdeck/sony" in fleet.ok("agents", "show", "SONY")
    shown = fleet.answer("agents", "show", "sony")["agent"]
    assert (shown["status"], shown["branch"]) == ("idle", "quarterdeck/sony")
    assert "Fix the login test" in fleet.ok("agents", "history", "sony")


def test_a_task_may_come_from_stdin(fleet: CommandedFleet) -> None:
    create = ("agents", "create", "piped", "--project", "Demo", "--wait", "-")
    assert fleet.ok(*create, typed="/say from\n/say a pipe\n") == "piped done: a pipe\n"
    assert fleet.ok("agents", "task", "piped", "--wait", "-", typed="/say more") == (
        "piped done: more\n"
    )


def test_a_refused_command_says_why_and_sets_its_exit_code(fleet: CommandedFleet) -> None:
    fleet.create("taken")
    again = fleet.run("agents", "create", "TAKEN", "--project", "Demo", "/say hi")
    assert (again.returncode, again.stdout) == (4, "")
    assert "error: An agent named 'taken' already exists" in again.stderr
    assert "hint: " in again.stderr

    nowhere = fleet.run("agents", "create", "lost", "--project", "Nowhere", "/say hi", "--json")
    assert nowhere.returncode == 3
    assert json.loads(nowhere.stdout)["error"]["code"] == "NOT_FOUND"

    assert fleet.run("agents", "create", "blank", "--project", "Demo", " ").returncode == 2
    assert fleet.run("agents", "create", "no_good", "--project", "Demo", "hi").returncode == 2
    assert fleet.run("agents", "create", "x", "--project", "Demo", "a", "--wiat").returncode == 2
    assert fleet.run("agents", "show", "nobody").returncode == 3
    assert fleet.run("agents", "list", "--status", "drunk").returncode == 2


def test_what_changes_something_leaves_one_trace_and_what_looks_leaves_none(
    fleet: CommandedFleet,
) -> None:
    fleet.create("traced")
    before = fleet.newest_call()
    fleet.run("agents", "create", "traced", "--project", "Demo", "/say hi")
    fleet.ok("agents", "list")
    fleet.ok("agents", "logs", "traced")
    fleet.ok("agents", "diff", "traced")
    fleet.ok("questions", "list")
    fleet.ok("agents", "delete", "traced", "--yes")

    assert fleet.calls_since(before) == ["cli.agents.delete", "cli.agents.create"]
    deleted, refused = fleet.answer("traces", "list")["traces"][:2]
    assert (deleted["status"], refused["status"]) == ("success", "failure")
    events = fleet.answer("traces", "show", deleted["traceId"])
    assert "user:" in json.dumps(events)


def test_a_busy_agent_takes_a_task_only_behind_the_one_it_has(fleet: CommandedFleet) -> None:
    fleet.ok("agents", "create", "busy", "--project", "Demo", "/wait go")
    fleet.await_status("busy", "busy")
    refused = fleet.run("agents", "task", "busy", "/say second")
    assert refused.returncode == 4
    queued = fleet.answer("agents", "task", "busy", "/say second", "--queue")
    assert queued["task"]["state"] == "queued"

    (fleet.workspace("busy") / "go").touch()
    assert fleet.ok("agents", "wait", "busy", "--timeout", "40") == "busy done: second\n"


def test_a_running_task_is_canceled(fleet: CommandedFleet) -> None:
    fleet.ok("agents", "create", "hasty", "--project", "Demo", "/hang")
    fleet.await_status("hasty", "busy")
    canceled = fleet.answer("agents", "cancel", "hasty")
    assert (canceled["interrupt_sent"], canceled["stopped"]) == (True, True)
    waited = fleet.run("agents", "wait", "hasty", "--timeout", "40")
    assert (waited.returncode, waited.stdout.split()[:2]) == (4, ["hasty", "canceled:"])
    assert fleet.run("agents", "cancel", "hasty").returncode == 2


def test_an_agent_is_started_again_by_name(fleet: CommandedFleet) -> None:
    fleet.create("again")
    told = fleet.run("agents", "restart", "again")
    assert "restart initiated" in told.stderr
    assert fleet.ok("agents", "wait", "again", "--timeout", "40").startswith("again done")


def test_all_that_failed_are_started_again(fleet: CommandedFleet) -> None:
    fleet.ok("roles", "add", "broken", "--command", "false")
    try:
        fleet.ok("agents", "create", "frail", "--project", "Demo", "--role", "broken", "/say hi")
        assert fleet.run("agents", "wait", "frail", "--timeout", "40").returncode == 4
        restarted = fleet.answer("agents", "restart", "--all")["restarted"]
        assert "frail" in [answer["agent_name"] for answer in restarted]
        fleet.ok("agents", "delete", "frail", "--yes")
    finally:
        fleet.ok("roles", "remove", "broken")  # while it is there, the built-in one is not
    assert fleet.run("agents", "restart").returncode == 2
    assert fleet.run("agents", "restart", "frail", "--all").returncode == 2


def test_a_deletion_is_confirmed_and_says_where_work_was_saved(fleet: CommandedFleet) -> None:
    fleet.create("doomed", "/write precious.txt gold")
    unasked = fleet.run("agents", "delete", "doomed")
    assert (unasked.returncode, "add --yes" in unasked.stderr) == (2, True)

    doubtful = at_terminal("agents", "delete", "doomed", environ=fleet.environ, typed="n\n")
    assert "Nothing was changed" in doubtful.shown
    assert fleet.run("agents", "show", "doomed").returncode == 0

    sure = at_terminal("agents", "delete", "doomed", environ=fleet.environ, typed="y\n")
    assert (sure.code, "kept on the branch 'quarterdeck-saved/doomed" in sure.shown) == (0, True)
    assert fleet.run("agents", "show", "doomed").returncode == 3
    assert "'quarterdeck-saved/doomed" in fleet.ok("agents", "list", "--status", "deleted")


def test_usage_is_shown_by_day_and_agent(fleet: CommandedFleet) -> None:
    fleet.create("dear", "/usage 100 20 0.5")
    rows = fleet.answer("agents", "usage", "--days", "1")["rows"]
    (dear,) = [row["usage"] for row in rows if row["agent_name"] == "dear"]
    assert (dear["input_tokens"], dear["output_tokens"], dear["cost"]) == (100, 20, 0.5)
    (line,) = [row for row in fleet.ok("agents", "usage").splitlines() if "dear" in row]
    assert line.split()[2:5] == ["100", "20", "120"]
