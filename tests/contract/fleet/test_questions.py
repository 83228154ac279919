"""Questions as the contract has them: seen, answered once, and never by who may not."""

from collections.abc import AsyncIterator

import pytest

from quarterdeck.domain.access import Scope
from tests.support.fleet_schemas import ANSWERS, complaints
from tests.support.mcp_fleets import Json, McpFleet, fleet
from tests.support.sites import site


@pytest.fixture(scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[McpFleet]:
    """A fleet in which each test has an agent of its own."""
    async with fleet(tmp_path_factory.mktemp("fleet")) as opened:
        yield opened


def answered(question: Json, **choice: str) -> dict[str, str]:
    return {"question_id": question["question_id"], **choice}


async def test_a_question_says_what_it_is_about_and_what_is_taken_by_default(
    here: McpFleet,
) -> None:
    question = await here.asking("plain")
    assert (question["agent_name"], question["title"]) == ("plain", "May I?")
    assert question["state"] == "open"
    options = {option["option_id"]: option["kind"] for option in question["options"]}
    assert set(options.values()) == {"allow_once", "allow_always", "reject_once"}
    assert options[question["default_option_id"]] == "reject_once"
    assert question["asked_at"] < question["deadline"]
    await here.call("delete_agent", agent_name="plain")


@pytest.mark.parametrize(
    ("choice", "heard"),
    [
        ({"kind": "allow_once"}, "allow-once"),
        ({"kind": "reject_once"}, "reject-once"),
        ({"option_id": "allow-always"}, "allow-always"),
    ],
)
async def test_an_answer_reaches_the_agent_by_kind_or_by_option(
    here: McpFleet, choice: dict[str, str], heard: str
) -> None:
    name = f"asks-{heard}"
    question = await here.asking(name)
    answer = await here.call("question_answer", **answered(question, **choice))
    assert answer["question"]["state"] == "answered"
    assert answer["question"]["answer_option_id"] == heard
    assert answer["question"]["answered_by"]
    await here.until(name, "idle")
    assert f"permission: {heard}" in [entry["message"] for entry in await here.log(name)]
    assert (await here.call("question_list", agent_name=name))["questions"] == []
    [task] = await here.history(name)
    assert task["needs_user_attention"] is False


async def test_a_question_is_answered_only_once(here: McpFleet) -> None:
    question = await here.asking("once")
    await here.call("question_answer", **answered(question, kind="allow_once"))
    error = await here.refused("question_answer", **answered(question, kind="reject_once"))
    assert (error["code"], error["details"]["state"]) == ("CONFLICT", "answered")
    assert "question_list" in error["details"]["hint"]


async def test_a_question_that_has_expired_takes_no_answer(here: McpFleet) -> None:
    question = await here.asking("hasty", role="hasty")
    await here.until("hasty", "idle")
    error = await here.refused("question_answer", **answered(question, kind="allow_once"))
    assert (error["code"], error["details"]["state"]) == ("CONFLICT", "expired")
    assert "permission: reject-once" in [e["message"] for e in await here.log("hasty")]


async def test_an_answer_that_is_none_of_those_offered(here: McpFleet) -> None:
    question = await here.asking("picky")
    for field, choice in (
        ("option_id", {"option_id": "maybe"}),
        ("kind", {"kind": "reject_always"}),
        ("kind", {"kind": "maybe"}),
        ("option_id", {}),
        ("kind", {"kind": "allow_once", "option_id": "allow-once"}),
    ):
        error = await here.refused("question_answer", **answered(question, **choice))
        assert error["code"] == "INVALID_INPUT", choice
        assert [item["field"] for item in error["details"]["fields"]] == [field], choice
    [still] = (await here.call("question_list", agent_name="picky"))["questions"]
    assert still["state"] == "open"
    await here.call("delete_agent", agent_name="picky")


async def test_a_question_that_nobody_asked(here: McpFleet) -> None:
    error = await here.refused("question_answer", question_id="nobody", kind="allow_once")
    assert (error["code"], error["details"]["question_id"]) == ("NOT_FOUND", "nobody")


async def test_only_who_may_approve_sees_and_answers_questions(here: McpFleet) -> None:
    question = await here.asking("guarded")
    async with site(here.deck) as place:
        writer = await place.token("writer", Scope.WRITE)
        person = await place.token("person", Scope.APPROVE)
        async with place.connected(writer.secret) as client:
            for tool in ("question_list", "question_answer"):
                error = (await client.call(tool, **answered(question, kind="allow_once"))).error
                assert (error["code"], error["message"]) == (
                    "NOT_FOUND",
                    f"Tool {tool!r} not found",
                )
            names = {tool.name for tool in await client.mcp.list_tools()}
            assert "show_agent" in names
            assert not {"question_list", "question_answer"} & names
        async with place.connected(person.secret) as client:
            answer = await client.answer("question_answer", **answered(question, kind="allow_once"))
    assert complaints(ANSWERS["question_answer"], answer) == []
    assert "token:person" in answer["question"]["answered_by"]
    await here.until("guarded", "idle")
