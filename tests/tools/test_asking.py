"""`wait_for_agent` asks the person at the client what an agent asks, over HTTP, in both eras."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from fastmcp import Client
from mcp.types import ElicitRequestFormParams, ElicitResult

from quarterdeck.domain.access import Scope
from quarterdeck.testing import Deck, quarterdeck_for_tests
from tests.support.clients import Era, ToolClient
from tests.support.people import CLIENTS, Caller, Person, at_http, choosing
from tests.support.sites import Site, site

ENOUGH_SECONDS = 50
Json = dict[str, Any]


@pytest.fixture
async def deck(tmp_path: Path) -> AsyncIterator[Deck]:
    async with quarterdeck_for_tests(tmp_path) as opened:
        yield opened


@pytest.fixture
async def here(deck: Deck) -> AsyncIterator[Site]:
    with anyio.fail_after(ENOUGH_SECONDS):
        async with site(deck) as opened:
            yield opened


@pytest.fixture(params=CLIENTS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


async def start(deck: Deck, task: str, *, name: str = "sony") -> None:
    reply = await deck.call("create_agent", {"name": name, "project": "demo", "task": task})
    assert not reply.is_error, reply


async def wait(caller: Caller, *names: str, **arguments: object) -> Json:
    result = await caller.call("wait_for_agent", agent_names=names or ["sony"], **arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def open_questions(deck: Deck) -> list[Json]:
    return (await deck.call("question_list")).answer["questions"]


async def said_by(deck: Deck, name: str = "sony") -> str:
    log = (await deck.call("show_agent_log", {"agent_name": name, "page_size": 100})).answer
    return "\n".join(entry["message"] for entry in log["logs"])


def owner(
    here: Site, kind: str, era: Era, person: Person | None
) -> AbstractAsyncContextManager[Caller]:
    return at_http(kind, era, f"{here.url}/mcp", here.key, person)


async def test_the_person_answers_and_the_wait_goes_on(here: Site, kind: str, era: Era) -> None:
    person = Person()
    await start(here.deck, "/ask May I?\n/ask-edit note.txt hello\n/say done")
    async with owner(here, kind, era, person) as caller:
        answer = await wait(caller)

    first, second = person.asked
    assert first == "Agent 'sony' asks: May I?"
    assert second.startswith("Agent 'sony' asks: Write note.txt\n- /")
    assert second.endswith("/note.txt")
    assert answer["agents"][0]["status"] == "idle"
    assert answer["timed_out"] is False
    assert "permission: allow-once" in await said_by(here.deck)
    assert await open_questions(here.deck) == []


async def test_the_form_offers_the_agents_answers_in_its_order(
    here: Site, kind: str, era: Era
) -> None:
    person = Person(choosing("reject-once"))
    await start(here.deck, "/ask May I?")
    async with owner(here, kind, era, person) as caller:
        await wait(caller)

    [form] = person.forms
    assert form.requested_schema["required"] == ["answer"]
    assert form.requested_schema["properties"] == {
        "answer": {
            "type": "string",
            "title": "Answer",
            "enum": ["allow-once", "allow-always", "reject-once"],
            "enumNames": ["Allow", "Always allow", "Reject"],
        }
    }
    assert "permission: reject-once" in await said_by(here.deck)


async def test_the_answer_is_traced_inside_the_call(here: Site, kind: str, era: Era) -> None:
    await start(here.deck, "/ask May I?")
    async with owner(here, kind, era, Person()) as caller:
        await wait(caller)

    found = (await here.deck.call("trace_list", {"limit": 20})).answer["traces"]
    waits = {trace["traceId"] for trace in found if trace["workflowId"] == "mcp.wait_for_agent"}
    traces = await children_of(here.deck, waits)
    assert [trace["workflowId"] for trace in traces] == ["question.answer"]
    assert traces[0]["status"] == "success"


async def children_of(deck: Deck, parents: set[str]) -> list[Json]:
    rows: list[Json] = []
    for parent in parents:
        found = (await deck.call("trace_get", {"traceId": parent})).answer
        rows += found.get("children", [])
    return rows


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_who_does_not_answer_leaves_the_question_open(
    here: Site, kind: str, era: Era, action: Literal["decline", "cancel"]
) -> None:
    async def reply(_asked: ElicitRequestFormParams) -> ElicitResult:
        return ElicitResult(action=action)

    person = Person(reply)
    await start(here.deck, "/ask May I?")
    async with owner(here, kind, era, person) as caller:
        answer = await wait(caller)

    assert len(person.asked) == 1
    assert answer["agents"][0]["waiting_for"]["title"] == "May I?"
    assert answer["timed_out"] is False
    assert answer["message"] == "sony asked a question; question_list shows it"
    assert [question["title"] for question in await open_questions(here.deck)] == ["May I?"]


async def test_a_client_that_cannot_ask_sees_no_difference(here: Site, kind: str, era: Era) -> None:
    await start(here.deck, "/ask May I?")
    async with owner(here, kind, era, None) as caller:
        answer = await wait(caller)

    assert answer["agents"][0]["waiting_for"]["title"] == "May I?"
    assert answer["message"] == "sony asked a question; question_list shows it"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/readonly"])
async def test_who_may_not_answer_is_not_asked(here: Site, era: Era, path: str) -> None:
    person = Person()
    secret = here.key if "readonly" in path else (await here.token("w", Scope.WRITE)).secret
    await start(here.deck, "/ask May I?")
    async with at_http("official", era, here.url + path, secret, person) as caller:
        answer = await wait(caller)

    assert person.asked == []
    assert answer["agents"][0]["waiting_for"]["title"] == "May I?"


async def test_nobody_is_asked_when_the_setting_says_so(tmp_path: Path, era: Era) -> None:
    person = Person()
    settings = {"fleet.ask_clients": False}
    async with quarterdeck_for_tests(tmp_path / "silent", settings=settings) as deck:
        await start(deck, "/ask May I?")
        async with site(deck) as here, owner(here, "official", era, person) as caller:
            answer = await wait(caller)

    assert person.asked == []
    assert answer["agents"][0]["waiting_for"]["title"] == "May I?"


async def test_two_agents_are_asked_about_one_after_the_other(
    here: Site, kind: str, era: Era
) -> None:
    person = Person()
    for name in ("sony", "casio"):
        await start(here.deck, f"/ask May {name}?", name=name)
    async with owner(here, kind, era, person) as caller:
        answer = await wait(caller, "sony", "casio")

    assert sorted(person.asked) == [
        "Agent 'casio' asks: May casio?",
        "Agent 'sony' asks: May sony?",
    ]
    assert [agent["status"] for agent in answer["agents"]] == ["idle", "idle"]


async def answer_for_them(deck: Deck) -> None:
    [question] = await open_questions(deck)
    answer = {"question_id": question["question_id"], "kind": "reject_once"}
    assert not (await deck.call("question_answer", answer)).is_error


async def test_a_question_that_somebody_else_answers_is_taken_back(here: Site, kind: str) -> None:
    gone = anyio.Event()

    async def reply(_asked: ElicitRequestFormParams) -> ElicitResult:
        try:
            await answer_for_them(here.deck)
            await anyio.sleep_forever()
            raise AssertionError
        finally:
            gone.set()

    await start(here.deck, "/ask May I?")
    async with owner(here, kind, "legacy", Person(reply)) as caller:
        answer = await wait(caller)
        await gone.wait()

    assert answer["agents"][0]["status"] == "idle"
    assert "permission: reject-once" in await said_by(here.deck)


async def test_an_answer_to_what_somebody_else_has_answered_is_a_conflict(
    here: Site, kind: str
) -> None:
    async def reply(asked: ElicitRequestFormParams) -> ElicitResult:
        await answer_for_them(here.deck)
        return await choosing("allow-once")(asked)

    await start(here.deck, "/ask May I?")
    async with owner(here, kind, "auto", Person(reply)) as caller:
        result = await caller.call("wait_for_agent", agent_names=["sony"])

    assert result.is_error
    assert result.structured_content is not None
    error = result.structured_content["error"]
    assert (error["code"], error["details"]["state"]) == ("CONFLICT", "answered")
    assert "permission: reject-once" in await said_by(here.deck)


async def test_the_person_may_think_until_time_is_up(here: Site, kind: str) -> None:
    async def reply(_asked: ElicitRequestFormParams) -> ElicitResult:
        await anyio.sleep_forever()
        raise AssertionError

    await start(here.deck, "/ask May I?")
    async with owner(here, kind, "legacy", Person(reply)) as caller:
        answer = await wait(caller, timeout_seconds=2)

    assert answer["timed_out"] is True
    assert answer["agents"][0]["waiting_for"]["title"] == "May I?"
    assert answer["message"] == "sony asked what nobody answered in time; question_list shows it"
    assert len(await open_questions(here.deck)) == 1


async def test_after_the_answer_only_the_rest_of_the_time_is_waited(
    here: Site, kind: str, era: Era
) -> None:
    await start(here.deck, "/slow 1\n/ask May I?\n/hang")
    async with owner(here, kind, era, Person()) as caller:
        answer = await wait(caller, timeout_seconds=4)

    assert answer["timed_out"] is True
    assert answer["agents"][0]["status"] == "busy"
    assert caller.steps[-1].done <= 4.0
    assert [step.total for step in caller.steps] == [4.0] * len(caller.steps)


async def test_an_answer_that_the_agent_does_not_offer_is_refused(
    here: Site, kind: str, era: Era
) -> None:
    await start(here.deck, "/ask May I?")
    async with owner(here, kind, era, Person(choosing("whatever"))) as caller:
        result = await caller.call("wait_for_agent", agent_names=["sony"])

    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == "INVALID_INPUT"
    assert len(await open_questions(here.deck)) == 1


async def test_a_client_that_fails_to_ask_is_answered_all_the_same(here: Site) -> None:
    async def reply(_asked: ElicitRequestFormParams) -> ElicitResult:
        raise RuntimeError("no window to show it in")

    await start(here.deck, "/ask May I?")
    async with owner(here, "fastmcp", "legacy", Person(reply)) as caller:
        answer = await wait(caller)

    assert answer["agents"][0]["waiting_for"]["title"] == "May I?"


@pytest.mark.parametrize("until", ["question", "changed"])
async def test_a_wait_for_no_more_than_a_question_is_over_when_it_is_answered(
    here: Site, era: Era, until: str
) -> None:
    person = Person()
    await start(here.deck, "/ask May I?\n/hang")
    async with owner(here, "official", era, person) as caller:
        answer = await wait(caller, until=until)
        while not person.asked:  # the first change may be that it starts
            answer = await wait(caller, until=until)

    assert answer["timed_out"] is False
    assert "waiting_for" not in answer["agents"][0]


async def test_an_answer_that_comes_after_a_restart_is_a_conflict(tmp_path: Path) -> None:
    home = tmp_path / "restarted"
    call: Json = {"name": "wait_for_agent", "arguments": {"agent_names": ["sony"]}}
    async with quarterdeck_for_tests(home) as before:
        await start(before, "/ask May I?")
        async with Client(before.server, elicitation_handler=Person().fastmcp) as client:
            first = await ToolClient(client).request("tools/call", call)
    assert first["resultType"] == "input_required"
    assert "requestState" not in first

    chosen = {"action": "accept", "content": {"answer": "allow-once"}}
    given = {"inputResponses": dict.fromkeys(first["inputRequests"], chosen)}
    async with (
        quarterdeck_for_tests(home) as after,
        Client(after.server, elicitation_handler=Person().fastmcp) as client,
    ):
        second = await ToolClient(client).request("tools/call", {**call, **given})

    error = second["structuredContent"]["error"]
    assert error["code"] == "CONFLICT"
    assert error["details"]["state"] in {"withdrawn", "expired"}
