"""How a run becomes a trace: labels and payloads fit to be stored and read back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from quarterdeck.domain.redaction import Redactor
from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.repositories.sql.traces import SqlTraceRepository
from quarterdeck.services.calls import Call
from quarterdeck.services.recorder import LABEL_LENGTH, PAYLOAD_DEPTH, Recorder
from quarterdeck.testing import Deck, FixedClock
from tests.support.records import newest_trace, payload_of, root_traces, store_of

TOKEN = "ghp_" + "z9Y8" * 9


@pytest.fixture
def recorder(clock: FixedClock) -> Recorder:
    return Recorder(SqlTraceRepository(), Redactor(["hunter2-hunter2"]), clock, "daemon")


def nested(levels: int) -> Any:  # noqa: ANN401 - any JSON value
    value: Any = "end"
    for _ in range(levels):
        value = [value]
    return value


async def record(deck: Deck, **about: Any) -> None:  # noqa: ANN401 - parts of a call
    async def body() -> None:
        return None

    parts: dict[str, Any] = {"surface": "mcp", "name": "mcp.x", "input": None} | about
    await deck.quarterdeck.calls.serve(Call(**parts), body)


def test_a_small_document_is_kept_as_it_is(recorder: Recorder) -> None:
    for document in ('{"a":1}', "null", '"é"', "[]", '{"a": 1.50}'):
        assert recorder.capped(document) == document


def test_a_document_is_redacted_by_name_by_form_and_by_literal(recorder: Recorder) -> None:
    document = json.dumps({"password": "x y z", "note": f"use {TOKEN}", "is": "hunter2-hunter2"})
    assert json.loads(recorder.capped(document)) == {
        "password": "[redacted]",
        "note": "use [redacted]",
        "is": "[redacted]",
    }


def test_the_preview_of_a_large_document_is_redacted_before_it_is_cut(recorder: Recorder) -> None:
    # The credential lies across the place where the document is cut.
    for start in range(65_536 - 60, 65_536 + 1, 5):
        document = json.dumps({"pad": "x" * start, "note": f"{TOKEN}", "tail": "y" * 1000})
        kept = json.loads(recorder.capped(document))
        assert kept["size"] == len(document)
        assert TOKEN[:8] not in kept["preview"]


def test_a_document_is_cut_between_characters(recorder: Recorder) -> None:
    for pad in range(4):
        document = json.dumps("x" * pad + "\N{ROCKET}" * 20_000, ensure_ascii=False)
        preview = json.loads(recorder.capped(document))["preview"]
        assert 65_533 <= len(preview.encode()) <= 65_536


def test_a_document_nested_too_deeply_to_be_read_back_is_kept_as_text(recorder: Recorder) -> None:
    assert json.loads(recorder.capped(json.dumps(nested(PAYLOAD_DEPTH)))) == nested(PAYLOAD_DEPTH)
    document = json.dumps(nested(PAYLOAD_DEPTH + 1))
    assert json.loads(recorder.capped(document)) == {
        "truncated": True,
        "size": len(document),
        "preview": document,
    }
    wide = json.dumps([[] for _ in range(PAYLOAD_DEPTH * 2)])
    assert recorder.capped(wide) == wide


async def test_labels_are_cut_mended_and_redacted(deck: Deck) -> None:
    for label, kept in {
        "a\x00b": "a\N{REPLACEMENT CHARACTER}b",
        "a\ud800b": "a?b",
        "x" * 1000: "x" * LABEL_LENGTH,
        f"use {TOKEN}": "use [redacted]",
        "x" * (LABEL_LENGTH - 10) + " " + TOKEN: "x" * (LABEL_LENGTH - 10) + " [redacted",
        "Grüße \N{ROCKET}": "Grüße \N{ROCKET}",
    }.items():
        await record(deck, actor=label, name=f"mcp.{label}", request_id=label, traceparent=label)
        trace = await newest_trace(deck)
        assert trace.actor == kept
        assert trace.workflow_id.startswith(f"mcp.{kept[:150]}")
        assert TOKEN[4:12] not in str(trace)
        start = payload_of(trace, EventType.RUN_START)
        assert start["actor"] == kept
        assert len(start["requestId"]) <= LABEL_LENGTH
        assert len(start["traceparent"]) <= LABEL_LENGTH


async def test_whatever_was_sent_is_recorded_and_read_back(deck: Deck) -> None:
    class Odd:
        def __repr__(self) -> str:
            return "an odd thing"

    for sent, kept in cases(Odd()):
        await record(deck, input=sent)
        trace = await newest_trace(deck)
        assert payload_of(trace, EventType.TOOL_INVOKE)["input"] == kept
        read = await deck.call("trace_get", {"traceId": trace.trace_id})
        assert read.answer["events"][1]["payload"].get("input") == kept


def cases(odd: object) -> Iterator[tuple[object, object]]:
    yield None, None
    yield {"a": [1, None, "é"]}, {"a": [1, None, "é"]}
    yield {"half": "a\ud800b", "\udfff": 1}, {"half": "a?b", "?": 1}
    yield {"n": [float("nan"), float("inf")]}, {"n": [None, None]}
    yield {"odd": odd}, {"odd": "an odd thing"}
    yield {"odd": [odd, "\ud800"]}, {"odd": ["an odd thing", "?"]}
    deep = nested(400)
    document = json.dumps(deep, separators=(", ", ": "))
    yield deep, {"truncated": True, "size": len(document), "preview": document}
    yield nested(100_000), {"unreadable": "list"}


async def test_an_interrupted_trace_gets_an_error_and_an_end(deck: Deck, clock: FixedClock) -> None:
    operations = deck.quarterdeck.memory.operations
    call = Call(surface="mcp", name="mcp.build", input=None, call_id="t1")
    run = call.claim("x.build", started_at=clock.now(), ticks_us=clock.ticks_us())
    await store_of(deck).write(lambda tx: operations.recorder.write_start(tx, run))
    [open_trace] = await root_traces(deck)
    assert await deck.quarterdeck.traces.close_interrupted(open_trace.daemon_id) == 1
    assert await deck.quarterdeck.traces.close_interrupted(open_trace.daemon_id) == 0
    [closed] = await root_traces(deck)
    assert closed.status is TraceStatus.FAILURE
    assert [(event.sequence, event.type) for event in closed.events] == [
        (1, EventType.RUN_START),
        (2, EventType.TOOL_INVOKE),
        (3, EventType.ERROR),
        (4, EventType.RUN_END),
    ]
    assert payload_of(closed, EventType.ERROR) == {
        "code": "INTERRUPTED",
        "message": "The process ended before the work did",
    }
    assert closed.duration_us > 0
    analysis = (await deck.call("trace_analyze", {"traceId": "t1"})).answer
    assert [issue["type"] for issue in analysis["issues"]] == ["INTERRUPTED"]
