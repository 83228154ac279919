"""What the stored events of a trace say about it; nothing here is guessed."""

import json
from collections.abc import Sequence

from quarterdeck.domain.trace import (
    EventType,
    Finding,
    Metrics,
    Performance,
    SlowestStep,
    Trace,
    TraceAnalyzeResponse,
    TraceEvent,
    TraceStatus,
    as_milliseconds,
    event_id,
)

SLOW_TRACE_MS = 10_000
SLOW_STEP_MS = 5_000


def analyze(trace: Trace, children: Sequence[Trace]) -> TraceAnalyzeResponse:
    """Return durations, failures and advice, computed from the trace and the work inside it."""
    steps = _steps(trace, children)
    errors = [event for event in trace.events if event.type is EventType.ERROR]
    failed = sum(1 for _, status in steps if status is TraceStatus.FAILURE)
    issues = _issues(trace, errors)
    return TraceAnalyzeResponse(
        trace_id=trace.trace_id,
        summary=_summary(trace, len(steps), len(errors)),
        performance=_performance(trace, [step for step, _ in steps]),
        issues=issues,
        recommendations=_recommendations(trace, [step for step, _ in steps], issues),
        metrics=Metrics(
            step_count=len(steps),
            success_rate=(len(steps) - failed) / len(steps) if steps else 0.0,
            error_count=len(errors),
        ),
    )


def _steps(trace: Trace, children: Sequence[Trace]) -> list[tuple[SlowestStep, TraceStatus | None]]:
    """Return the finished steps: the work inside the trace, else its own tool calls."""
    if children:
        return [
            (_step(child.trace_id, child.workflow_id, child.duration_us), child.status)
            for child in children
            if child.status is not TraceStatus.RUNNING
        ]
    return [
        (
            _step(
                event_id(trace.trace_id, event.sequence), trace.workflow_id, event.duration_us or 0
            ),
            event.status,
        )
        for event in trace.events
        if event.type is EventType.TOOL_RESULT
    ]


def _step(step_id: str, name: str, duration_us: int) -> SlowestStep:
    return SlowestStep(step_id=step_id, step_name=name, duration_ms=as_milliseconds(duration_us))


def _performance(trace: Trace, steps: Sequence[SlowestStep]) -> Performance:
    total = sum(step.duration_ms for step in steps)
    return Performance(
        total_duration=as_milliseconds(trace.duration_us),
        average_step_duration=total / len(steps) if steps else 0.0,
        slowest_step=max(steps, key=lambda step: step.duration_ms, default=None),
    )


def _summary(trace: Trace, steps: int, errors: int) -> str:
    what = f"{trace.workflow_id} with {steps} finished step{'' if steps == 1 else 's'}"
    if trace.status is TraceStatus.RUNNING:
        return f"{what} is still running"
    took = f"in {as_milliseconds(trace.duration_us):.1f} ms"
    if trace.status is TraceStatus.SUCCESS:
        return f"{what} succeeded {took}"
    return f"{what} failed {took} with {errors} error{'' if errors == 1 else 's'}"


def _issues(trace: Trace, errors: Sequence[TraceEvent]) -> list[Finding]:
    found = [_error_finding(event) for event in errors]
    if trace.status is TraceStatus.RUNNING:
        text = "The trace has no run.end event: the work goes on, or its process is gone"
        found.append(Finding(type="incomplete", message=text, severity="warning"))
    if any("outputProblems" in json.loads(event.payload) for event in _results(trace)):
        text = "The reply did not fit its output schema"
        found.append(Finding(type="output_schema", message=text, severity="warning"))
    if trace.duration_us > SLOW_TRACE_MS * 1000:
        text = f"The trace took longer than {SLOW_TRACE_MS // 1000} s"
        found.append(Finding(type="slow_trace", message=text, severity="warning"))
    return found


def _results(trace: Trace) -> list[TraceEvent]:
    return [event for event in trace.events if event.type is EventType.TOOL_RESULT]


def _error_finding(event: TraceEvent) -> Finding:
    error = json.loads(event.payload)
    return Finding(type=error["code"], message=error["message"], severity="error")


def _recommendations(
    trace: Trace, steps: Sequence[SlowestStep], issues: Sequence[Finding]
) -> list[Finding]:
    advice: list[Finding] = []
    if any(issue.severity == "error" for issue in issues):
        text = f"Read the error events with trace_get {trace.trace_id}"
        advice.append(Finding(type="read_errors", message=text, severity="info"))
    slowest = max(steps, key=lambda step: step.duration_ms, default=None)
    if slowest and slowest.duration_ms > SLOW_STEP_MS:
        text = f"{slowest.step_name} took {slowest.duration_ms / 1000:.1f} s; look there first"
        advice.append(Finding(type="slow_step", message=text, severity="info"))
    return advice
