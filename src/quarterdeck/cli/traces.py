"""`quarterdeck traces`: the record of every call, from the command line."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import moment, print_json, print_table, printable, remark

if TYPE_CHECKING:
    from quarterdeck.domain.trace import Finding, TraceAnalyzeResponse, TraceGetResponse

app = App(name="traces", help="Read the record of every call.")

TraceId = Annotated[str, Parameter(name="ID", help="Id of the trace, as listed.")]


@app.command(name="list")
async def list_(
    *,
    limit: Annotated[
        int, Parameter(help="Most traces, up to 100.", validator=Number(gte=1, lte=100))
    ] = 10,
    status: Annotated[
        Literal["success", "failure", "running"] | None, Parameter(help="Only those that are so.")
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """List calls, newest first."""
    from quarterdeck.domain.trace import TraceStatus

    answer = await invocation.call(
        "traces.list",
        {"limit": limit, "status": status},
        lambda deck: deck.traces.list(
            limit=limit, status=None if status is None else TraceStatus(status)
        ),
        recorded=False,
    )
    if as_json:
        print_json(answer)
        return
    rows = [
        (row.trace_id, moment(row.start_time), row.status, _ms(row.duration_ms), row.workflow_id)
        for row in answer.traces
    ]
    print_table(("ID", "STARTED", "STATUS", "TOOK", "CALL"), rows)


@app.command
async def show(trace_id: TraceId, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Print a trace with all its events."""
    answer = await invocation.call(
        "traces.show",
        {"traceId": trace_id},
        lambda deck: deck.traces.get(trace_id),
        recorded=False,
    )
    print_json(answer) if as_json else _print_trace(answer)


@app.command
async def analyze(trace_id: TraceId, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Say what the events of a trace tell about it."""
    answer = await invocation.call(
        "traces.analyze",
        {"traceId": trace_id},
        lambda deck: deck.traces.analyze(trace_id),
        recorded=False,
    )
    print_json(answer) if as_json else _print_analysis(answer)


@app.command
async def prune(*, as_json: AsJson = False, invocation: Injected) -> None:
    """Delete the traces that are past their age or beyond their number, now.

    Servers do this every few minutes by themselves. The settings are trace.retention_days
    and trace.max_traces.
    """
    limits = invocation.settings().trace
    pruned = await invocation.call(
        "traces.prune",
        {"retentionDays": limits.retention_days, "maxTraces": limits.max_traces},
        lambda deck: deck.traces.prune(
            retention_days=limits.retention_days, max_traces=limits.max_traces
        ),
    )
    if as_json:
        print(json.dumps({"pruned": pruned}))
    else:
        remark(f"Deleted {pruned} trace{'' if pruned == 1 else 's'}")


def _ms(duration: float) -> str:
    return f"{duration:.1f} ms"


def _print_trace(trace: "TraceGetResponse") -> None:
    facts = [
        ("id", trace.trace_id),
        ("call", trace.workflow_id),
        ("status", trace.status),
        ("started", moment(trace.start_time)),
        ("took", _ms(trace.duration_ms)),
        ("by", f"{trace.actor} ({trace.surface})"),
        *(("inside", f"{child.workflow_id} {child.trace_id}") for child in trace.children),
    ]
    _print_facts(facts)
    for event in trace.events:
        payload = json.dumps(event.payload, ensure_ascii=False)
        print(f"{event.sequence:>4}  {event.type:<12} {printable(payload)}")


def _print_analysis(analysis: "TraceAnalyzeResponse") -> None:
    slowest = analysis.performance.slowest_step
    facts = [
        ("summary", analysis.summary),
        ("steps", str(analysis.metrics.step_count)),
        ("success", f"{analysis.metrics.success_rate:.0%}"),
        ("errors", str(analysis.metrics.error_count)),
        ("took", _ms(analysis.performance.total_duration)),
        *([("slowest", f"{slowest.step_name}, {_ms(slowest.duration_ms)}")] if slowest else []),
    ]
    _print_facts(facts)
    _print_findings("issue", analysis.issues)
    _print_findings("advice", analysis.recommendations)


def _print_findings(kind: str, findings: "Sequence[Finding]") -> None:
    _print_facts([(kind, f"{finding.type}: {finding.message}") for finding in findings])


def _print_facts(facts: Sequence[tuple[str, str]]) -> None:
    for name, text in facts:
        print(f"{name:<8} {printable(text)}")
