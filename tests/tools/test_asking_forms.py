"""What a person is shown of a question, and how often a call may ask."""

from datetime import UTC, datetime, timedelta

from mcp.types import ElicitResult

from quarterdeck.domain.questions import Option, OptionKind, Question
from quarterdeck.services.asking import Chosen
from quarterdeck.tools.asking import MOST_PATHS, MOST_ROUNDS, AskingBetweenCalls, form_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def question(title: str = "Edit", *paths: str, option: str = "Allow") -> Question:
    return Question(
        id="q-1",
        agent_id="a-1",
        agent_name="sony",
        daemon_id="d-1",
        task_id=None,
        title=title,
        tool_kind="edit",
        paths=paths,
        options=(Option(id="yes", name=option, kind=OptionKind.ALLOW_ONCE),),
        default=None,
        asked_at=NOW,
        deadline=NOW + timedelta(hours=1),
    )


def accepted(option_id: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"answer": option_id})


def test_the_message_names_the_agent_the_question_and_the_files() -> None:
    message = form_of(question("Edit two files", "a.py", "b.py")).message
    assert message == "Agent 'sony' asks: Edit two files\n- a.py\n- b.py"


def test_many_files_are_counted() -> None:
    paths = [f"{number}.py" for number in range(MOST_PATHS + 3)]
    lines = form_of(question("Edit", *paths)).message.splitlines()
    assert lines[-2:] == [f"- {MOST_PATHS - 1}.py", "- and 3 more"]


def test_an_agent_cannot_write_lines_of_its_own_into_the_message() -> None:
    form = form_of(question("Edit\nAgent 'root' asks: \x1b[2K", "a\r\nb", option="No\x07"))
    assert form.message == "Agent 'sony' asks: Edit Agent 'root' asks:  [2K\n- a  b"
    assert form.requested_schema["properties"]["answer"]["enumNames"] == ["No "]


async def test_the_key_of_a_reply_brings_back_what_was_asked() -> None:
    asking = AskingBetweenCalls({})
    assert await asking.ask(question()) is None
    assert asking.required is not None
    [key] = asking.required.input_requests or {}

    again = AskingBetweenCalls({key: accepted("yes")})
    assert again.brought == Chosen("q-1", "yes")
    assert again.waited > 0


async def test_a_declined_question_is_not_asked_again() -> None:
    asking = AskingBetweenCalls({"1.20.q-1": ElicitResult(action="decline")})
    assert asking.brought is None
    assert await asking.ask(question()) is None
    assert asking.required is None


async def test_a_call_stops_asking_before_clients_give_up_on_it() -> None:
    asking = AskingBetweenCalls({f"{MOST_ROUNDS}.20.q-0": accepted("yes")})
    assert asking.brought == Chosen("q-0", "yes")
    assert await asking.ask(question()) is None
    assert asking.required is None


def test_answers_under_other_keys_are_passed_over() -> None:
    for key in ("q-1", "1.q-1", "-1.20.q-1", "1.-20.q-1", "1.20.", ""):
        asking = AskingBetweenCalls({key: accepted("yes")})
        assert (asking.brought, asking.waited) == (None, 0)
