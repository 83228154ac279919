"""The conversation with an agent, from a terminal and from a pipe."""

import pytest

from tests.support.fleets import CommandedFleet
from tests.support.terminals import terminal

pytestmark = pytest.mark.xdist_group("commanded-fleet")


@pytest.fixture(scope="module")
def talker(fleet: CommandedFleet) -> str:
    return fleet.create("talker", "/say at your service")


def test_lines_from_a_pipe_are_tasks_one_after_the_other(
    fleet: CommandedFleet, talker: str
) -> None:
    said = fleet.ok(
        "agents", "attach", talker, typed="/say one\n\n/run sleep 0.5\n/say two"
    ).splitlines()
    assert said[said.index("> /say one") :] == [
        "> /say one",
        "one",
        "> /run sleep 0.5",
        "> /say two",
        "two",
    ]
    done = fleet.answer("agents", "history", talker)["tasks"][:3]
    assert [task["message"] for task in done] == ["/say two", "/run sleep 0.5", "/say one"]


def test_a_question_is_answered_by_the_next_line(fleet: CommandedFleet, talker: str) -> None:
    typed = "/ask May I?\nperhaps\nreject-once\n/say thanks\n"
    done = fleet.run("agents", "attach", talker, typed=typed)
    assert done.returncode == 0, done.stderr
    asked = done.stdout[done.stdout.index("? May I?") :].splitlines()
    assert asked[:4] == [
        "? May I?",
        "  1 Allow (allow-once)",
        "  2 Always allow (allow-always)",
        "  3 Reject (reject-once)",
    ]
    assert asked[4:] == ["permission: reject-once", "> /say thanks", "thanks"]
    assert "Type a number from 1 to 3" in done.stderr


def test_a_pipe_that_ends_with_a_failure_or_a_question_says_so(fleet: CommandedFleet) -> None:
    fleet.create("troubled")
    failed = fleet.run("agents", "attach", "troubled", typed="/fail out of luck")
    assert (failed.returncode, "out of luck" in failed.stdout) == (4, True)
    asking = fleet.run("agents", "attach", "troubled", typed="/ask Well?")
    assert (asking.returncode, "waits for an answer" in asking.stderr) == (4, True)
    assert fleet.open_question("troubled")["title"] == "Well?"


def test_tool_calls_are_shown_when_asked_for(fleet: CommandedFleet, talker: str) -> None:
    quiet = fleet.ok("agents", "attach", talker, typed="/run echo made")
    assert "execute" not in quiet
    assert "execute" in fleet.ok("agents", "attach", talker, "-v", typed="/run echo made")


def test_at_a_terminal_one_talks_with_the_agent(fleet: CommandedFleet, talker: str) -> None:
    with terminal("agents", "attach", talker, environ=fleet.environ) as seat:
        seat.read_until("talker is idle; Ctrl-D leaves")
        seat.type("/say hello you\n")
        # Once as it was typed, and once as it was said.
        assert seat.read_until("\nhello you").count("/say hello you") == 1
        seat.type("/ask Paint it?\n")
        seat.read_until("2 Always allow (allow-always)")
        seat.type("2\n")
        seat.read_until("permission: allow-always")
        seat.type("\x04")
        assert seat.code() == 0
    assert fleet.answer("agents", "show", talker)["agent"]["status"] == "idle"


def test_a_line_for_a_busy_agent_waits_and_ctrl_c_offers_to_cancel(fleet: CommandedFleet) -> None:
    fleet.create("stuck")
    with terminal("agents", "attach", "stuck", environ=fleet.environ) as seat:
        seat.read_until("Ctrl-D leaves")
        seat.type("/hang\n")
        fleet.await_status("stuck", "busy")
        seat.type("/say at last\n")
        seat.read_until("Task queued for agent 'stuck'")
        seat.interrupt()
        seat.read_until("Cancel what stuck is doing? [y/N]")
        seat.type("y\n")
        seat.read_until("\nat last")
        fleet.await_status("stuck", "idle")
        states = [task["state"] for task in fleet.answer("agents", "history", "stuck")["tasks"]]
        assert states[:2] == ["done", "canceled"]


def test_ctrl_c_leaves_an_agent_that_is_at_rest(fleet: CommandedFleet, talker: str) -> None:
    with terminal("agents", "attach", talker, environ=fleet.environ) as seat:
        seat.read_until("Ctrl-D leaves")
        seat.interrupt()
        assert seat.code() == 130


def test_an_agent_that_is_not_there_cannot_be_talked_to(fleet: CommandedFleet) -> None:
    assert fleet.run("agents", "attach", "nobody", typed="hello").returncode == 3
