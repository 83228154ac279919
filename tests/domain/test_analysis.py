from datetime import UTC, datetime, timedelta

import pytest

from quarterdeck.domain.analysis import analyze
from quarterdeck.domain.json import dump
from quarterdeck.domain.trace import (
    EventType,
    Metrics,
    Performance,
    SlowestStep,
    Trace,
    TraceEvent,
    TraceStatus,
    event_id,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = 1_000_000


def event(
    sequence: int,
    kind: EventType,
    payload: object = None,
    *,
    status: TraceStatus | None = None,
    duration_us: int | None = None,
) -> TraceEvent:
    return TraceEvent(sequence, kind, NOON, dump(payload or {}), status, duration_us)


def trace_of(
    status: TraceStatus, duration_us: int = 2500, *events: TraceEvent, trace_id: str = "root"
) -> Trace:
    ended_at = NOON + timedelta(microseconds=duration_us)
    return Trace(
        trace_id=trace_id,
        parent_id=None,
        workflow_id="mcp.memory_store",
        operation="memory.store",
        surface="mcp",
        actor="local",
        daemon_id="daemon",
        status=status,
        started_at=NOON,
        ended_at=None if status is TraceStatus.RUNNING else ended_at,
        duration_us=duration_us,
        events=events,
        event_count=len(events),
    )


def result(status: TraceStatus, duration_us: int, payload: object = None) -> TraceEvent:
    return event(3, EventType.TOOL_RESULT, payload, status=status, duration_us=duration_us)


SUCCESS = trace_of(TraceStatus.SUCCESS, 2500, result(TraceStatus.SUCCESS, 2500))
FAILURE = trace_of(
    TraceStatus.FAILURE,
    2500,
    result(TraceStatus.FAILURE, 2500),
    event(4, EventType.ERROR, {"code": "DENIED", "message": "Read-only"}),
)
RUNNING = trace_of(TraceStatus.RUNNING, 0, event(1, EventType.RUN_START))


def test_a_call_that_succeeded_is_one_step_without_issues() -> None:
    analysis = analyze(SUCCESS, [])
    step = SlowestStep(step_id=event_id("root", 3), step_name="mcp.memory_store", duration_ms=2.5)
    assert analysis.performance == Performance(
        total_duration=2.5, average_step_duration=2.5, slowest_step=step
    )
    assert analysis.metrics == Metrics(step_count=1, success_rate=1.0, error_count=0)
    assert (analysis.issues, analysis.recommendations) == ([], [])
    assert analysis.summary == "mcp.memory_store with 1 finished step succeeded in 2.5 ms"


def test_a_failed_call_shows_its_error_and_where_to_read_more() -> None:
    analysis = analyze(FAILURE, [])
    assert analysis.metrics == Metrics(step_count=1, success_rate=0.0, error_count=1)
    assert [(i.type, i.message, i.severity) for i in analysis.issues] == [
        ("DENIED", "Read-only", "error")
    ]
    assert [advice.type for advice in analysis.recommendations] == ["read_errors"]
    assert analysis.summary.endswith("failed in 2.5 ms with 1 error")


def test_a_running_call_has_no_steps_yet_and_says_so() -> None:
    analysis = analyze(RUNNING, [])
    assert analysis.metrics == Metrics(step_count=0, success_rate=0.0, error_count=0)
    assert analysis.performance.slowest_step is None
    assert analysis.performance.average_step_duration == 0
    assert [issue.type for issue in analysis.issues] == ["incomplete"]
    assert analysis.summary == "mcp.memory_store with 0 finished steps is still running"


def child(number: int, status: TraceStatus, duration_us: int) -> Trace:
    trace = trace_of(status, duration_us, trace_id=f"child-{number}")
    return trace._replace(workflow_id=f"work.{number}")


def test_the_work_inside_a_call_is_its_steps_once_it_is_finished() -> None:
    children = [
        child(1, TraceStatus.SUCCESS, 1000),
        child(2, TraceStatus.FAILURE, 3000),
        child(3, TraceStatus.SUCCESS, 2000),
        child(4, TraceStatus.RUNNING, 0),
    ]
    analysis = analyze(SUCCESS, children)
    assert analysis.metrics == Metrics(step_count=3, success_rate=2 / 3, error_count=0)
    assert analysis.performance.average_step_duration == 2.0
    assert analysis.performance.slowest_step == SlowestStep(
        step_id="child-2", step_name="work.2", duration_ms=3.0
    )


@pytest.mark.parametrize(("duration_us", "issues"), [(10 * SECOND, 0), (10 * SECOND + 1, 1)])
def test_a_trace_of_more_than_ten_seconds_is_called_slow(duration_us: int, issues: int) -> None:
    analysis = analyze(trace_of(TraceStatus.SUCCESS, duration_us), [])
    assert [issue.type for issue in analysis.issues] == ["slow_trace"] * issues


@pytest.mark.parametrize(("duration_us", "advice"), [(5 * SECOND, 0), (5 * SECOND + 1000, 1)])
def test_a_step_of_more_than_five_seconds_is_named(duration_us: int, advice: int) -> None:
    analysis = analyze(SUCCESS, [child(1, TraceStatus.SUCCESS, duration_us)])
    assert [advice.type for advice in analysis.recommendations] == ["slow_step"] * advice


def test_a_reply_that_broke_its_schema_is_an_issue() -> None:
    payload = {"output": {"a": 1}, "outputProblems": ["$.key is missing"]}
    analysis = analyze(
        trace_of(TraceStatus.SUCCESS, 1, result(TraceStatus.SUCCESS, 1, payload)), []
    )
    assert [issue.type for issue in analysis.issues] == ["output_schema"]
