"""A call: opened by a surface before it looks at the request, recorded however it ends."""

import pytest

from quarterdeck.domain.answer import Answer
from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.errors import Conflict
from quarterdeck.services.calls import Call, current_frame, render_plainly
from quarterdeck.services.recorder import Rendered
from quarterdeck.testing import Deck, FixedClock
from tests.support.records import newest_trace, payload_of, root_traces
from tests.support.workshop import Made


class Pair(Answer):
    some_name: str
    nothing: str | None = None


async def test_a_call_that_no_operation_claims_is_recorded_by_its_surface(deck: Deck) -> None:
    async def body() -> Made:
        return Made(text="done")

    call = Call(surface="web", name="web.refresh", input=["sent"], actor="ada", request_id="r1")
    assert await deck.quarterdeck.calls.serve(call, body) == Made(text="done")
    [trace] = await root_traces(deck)
    assert (trace.trace_id, trace.workflow_id) == (call.call_id, "web.refresh")
    assert (trace.operation, trace.surface, trace.actor) == (None, "web", "ada")
    assert payload_of(trace, EventType.TOOL_INVOKE) == {"toolName": "refresh", "input": ["sent"]}
    assert payload_of(trace, EventType.TOOL_RESULT)["output"] == {"text": "done"}
    assert payload_of(trace, EventType.RUN_START)["requestId"] == "r1"


async def test_an_unclaimed_call_that_fails_is_recorded_and_fails(deck: Deck) -> None:
    async def body() -> None:
        raise Conflict("Not now", details={"why": "busy"})

    call = Call(surface="cli", name="cli.now", input=None)
    with pytest.raises(Conflict):
        await deck.quarterdeck.calls.serve(call, body)
    trace = await newest_trace(deck)
    assert trace.status is TraceStatus.FAILURE
    output = payload_of(trace, EventType.TOOL_RESULT)["output"]
    assert output == Conflict("Not now", details={"why": "busy"}).body()


async def test_an_unclaimed_call_that_is_not_recorded_leaves_nothing(deck: Deck) -> None:
    async def body() -> int:
        return 5

    call = Call(surface="cli", name="cli.look", input=None, recorded=False)
    assert await deck.quarterdeck.calls.serve(call, body) == 5
    assert await root_traces(deck) == []


async def test_a_call_knows_where_it_stands_only_while_it_is_served(deck: Deck) -> None:
    async def body() -> None:
        assert current_frame().call is call

    call = Call(surface="cli", name="cli.look", input=None)
    await deck.quarterdeck.calls.serve(call, body)
    with pytest.raises(AssertionError, match="open a call"):
        current_frame()


async def test_a_call_cannot_have_two_root_traces(clock: FixedClock) -> None:
    call = Call(surface="cli", name="cli.work", input=None)
    call.claim("work.do", started_at=clock.now(), ticks_us=0)
    with pytest.raises(AssertionError, match="one root trace"):
        call.claim("work.do", started_at=clock.now(), ticks_us=0)


async def test_an_answer_is_shown_as_its_surface_renders_it(deck: Deck) -> None:
    async def body() -> str:
        return "plain"

    call = Call(surface="cli", name="cli.look", input=None)
    call.render = lambda answer: Rendered(f'{{"said":"{answer}"}}')
    await deck.quarterdeck.calls.serve(call, body)
    output = payload_of(await newest_trace(deck), EventType.TOOL_RESULT)["output"]
    assert output == {"said": "plain"}


def test_answers_without_a_schema_are_rendered_by_the_contracts_names() -> None:
    assert render_plainly(Pair(some_name="a")).text == '{"someName":"a"}'
    assert render_plainly([Pair(some_name="é")]).text == '[{"someName":"é"}]'
    assert render_plainly(None).text == "null"
