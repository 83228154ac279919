"""Questions of agents, answered from the terminal."""

import pytest

from tests.support.fleets import CommandedFleet
from tests.support.terminals import at_terminal

pytestmark = pytest.mark.xdist_group("commanded-fleet")


@pytest.fixture(scope="module")
def asker(fleet: CommandedFleet) -> str:
    return fleet.create("asker")


def asks(fleet: CommandedFleet, asker: str, title: str) -> str:
    """Have the agent ask something; return the id of the question."""
    fleet.ok("agents", "task", asker, f"/ask {title}")
    fleet.ok("agents", "wait", asker, "--until", "question", "--timeout", "40")
    return fleet.open_question(asker)["question_id"]


def outcome(fleet: CommandedFleet, asker: str) -> str:
    return fleet.ok("agents", "wait", asker, "--timeout", "40").strip()


def test_an_open_question_is_listed_and_allowed(fleet: CommandedFleet, asker: str) -> None:
    question = asks(fleet, asker, "Deploy?")
    (row,) = [line for line in fleet.ok("questions", "list").splitlines() if question in line]
    assert "Deploy?" in row
    assert "allow-once, allow-always, reject-once" in row
    (line,) = [line for line in fleet.ok("agents", "list").splitlines() if "Deploy?" in line]
    assert line.split()[:2] == ["asker", "asks"]

    before = fleet.newest_call()
    told = fleet.run("questions", "answer", question, "--allow")
    assert (told.returncode, told.stderr) == (0, "Agent 'asker' was told: Allow\n")
    assert outcome(fleet, asker) == "asker done: permission: allow-once"
    assert fleet.calls_since(before) == ["cli.questions.answer"]
    again = fleet.run("questions", "answer", question, "--allow")
    assert again.returncode == 4


def test_an_answer_is_chosen_by_its_id_or_rejected(fleet: CommandedFleet, asker: str) -> None:
    question = asks(fleet, asker, "Really?")
    wrong = fleet.run("questions", "answer", question, "--option", "perhaps")
    assert (wrong.returncode, "allow-always" in wrong.stderr) == (2, True)
    answer = fleet.answer("questions", "answer", question, "--option", "allow-always")
    assert answer["question"]["answer_option_id"] == "allow-always"
    assert outcome(fleet, asker) == "asker done: permission: allow-always"

    fleet.ok("questions", "answer", asks(fleet, asker, "Sure?"), "--reject")
    assert outcome(fleet, asker) == "asker done: permission: reject-once"


def test_at_a_terminal_the_options_are_offered(fleet: CommandedFleet, asker: str) -> None:
    question = asks(fleet, asker, "Now?")
    unsure = at_terminal("questions", "answer", question, environ=fleet.environ, typed="perhaps\n")
    assert unsure.code == 2
    chosen = at_terminal("questions", "answer", question, environ=fleet.environ, typed="3\n")
    assert (chosen.code, "asker asks: Now?" in chosen.shown) == (0, True)
    assert outcome(fleet, asker) == "asker done: permission: reject-once"


def test_without_a_terminal_the_answer_has_to_be_given(fleet: CommandedFleet) -> None:
    unasked = fleet.run("questions", "answer", "some-question")
    assert (unasked.returncode, "--allow" in unasked.stderr) == (2, True)
    assert fleet.run("questions", "answer", "some-question", "--allow").returncode == 3
    both = fleet.run("questions", "answer", "some-question", "--allow", "--reject")
    assert both.returncode == 2


def test_when_nobody_asks_the_list_says_so(fleet: CommandedFleet) -> None:
    quiet = fleet.run("questions", "list", "--agent", fleet.create("quiet"))
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "No agent asks anything\n")
