"""Traces: read what happened, close what a dead process left open, prune what is old."""

import json
from collections.abc import Sequence
from datetime import timedelta

from quarterdeck.domain.analysis import analyze
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.names import checked_name
from quarterdeck.domain.trace import (
    TRACE_ID_LENGTH,
    ChildTrace,
    Trace,
    TraceAnalyzeResponse,
    TraceEvent,
    TraceEventRow,
    TraceGetResponse,
    TraceListResponse,
    TraceRow,
    TraceStatus,
    as_milliseconds,
    event_id,
)
from quarterdeck.errors import TraceNotFound
from quarterdeck.ports.repositories import TraceRepository
from quarterdeck.ports.store import Transaction
from quarterdeck.services.operation import Operation, Operations, operation

# Small enough that a waiting tool call does not notice the writer being busy with it.
PRUNE_BATCH = 100


class TraceService:
    """The record of every call."""

    def __init__(self, operations: Operations, traces: TraceRepository) -> None:
        """Traces live in `traces`."""
        self.operations = operations
        self._traces = traces

    @operation("trace.list", Effect.READ)
    async def list(
        self, op: Operation, *, limit: int = 10, status: TraceStatus | None = None
    ) -> TraceListResponse:
        """Return the newest calls; work done inside a call is shown by `get`."""
        rows = await op.read(lambda tx: self._traces.list(tx, status, limit))
        return TraceListResponse(traces=[_row(trace) for trace in rows])

    @operation("trace.get", Effect.READ)
    async def get(self, op: Operation, trace_id: str) -> TraceGetResponse:
        """Return a trace with all its events."""
        trace, children = await self._load(op, trace_id)
        return TraceGetResponse(
            trace_id=trace.trace_id,
            workflow_id=trace.workflow_id,
            parent_trace_id=trace.parent_id,
            start_time=trace.started_at,
            end_time=trace.ended_at,
            status=trace.status,
            duration_ms=as_milliseconds(trace.duration_us),
            actor=trace.actor,
            surface=trace.surface,
            events=[_event(trace.trace_id, event) for event in trace.events],
            children=[
                ChildTrace(
                    trace_id=child.trace_id,
                    workflow_id=child.workflow_id,
                    status=child.status,
                    duration_ms=as_milliseconds(child.duration_us),
                )
                for child in children
            ],
        )

    @operation("trace.analyze", Effect.READ)
    async def analyze(self, op: Operation, trace_id: str) -> TraceAnalyzeResponse:
        """Return what the stored events say about a trace."""
        trace, children = await self._load(op, trace_id)
        return analyze(trace, children)

    async def close_interrupted(self, daemon_id: str) -> int:
        """Close the traces that a process which is gone left open; return how many."""

        def decide(tx: Transaction) -> int:
            left = self._traces.open_of(tx, daemon_id)
            for trace in left:
                self.operations.recorder.write_interruption(tx, trace)
            return len(left)

        return await self.operations.store.write(decide)

    async def prune(self, *, retention_days: int, max_traces: int) -> int:
        """Delete finished traces past their age or beyond the count, oldest first."""
        before = self.operations.clock.now() - timedelta(days=retention_days)
        pruned, batch = 0, PRUNE_BATCH
        # A short batch ends it: at the limit every call adds one more, and it would never end.
        while batch == PRUNE_BATCH:
            batch = await self.operations.store.write(
                lambda tx: self._traces.prune(tx, before=before, keep=max_traces, most=PRUNE_BATCH)
            )
            pruned += batch
        return pruned

    async def _load(self, op: Operation, trace_id: str) -> tuple[Trace, Sequence[Trace]]:
        checked_name("traceId", trace_id, longest=TRACE_ID_LENGTH)

        def look(tx: Transaction) -> tuple[Trace | None, Sequence[Trace]]:
            return self._traces.find(tx, trace_id), self._traces.children(tx, trace_id)

        trace, children = await op.read(look)
        if trace is None:
            raise TraceNotFound(trace_id)
        return trace, children


def _row(trace: Trace) -> TraceRow:
    return TraceRow(
        trace_id=trace.trace_id,
        workflow_id=trace.workflow_id,
        start_time=trace.started_at,
        end_time=trace.ended_at,
        status=trace.status,
        event_count=trace.event_count,
        duration_ms=as_milliseconds(trace.duration_us),
        actor=trace.actor,
        surface=trace.surface,
    )


def _event(trace_id: str, event: TraceEvent) -> TraceEventRow:
    return TraceEventRow(
        event_id=event_id(trace_id, event.sequence),
        type=event.type,
        sequence=event.sequence,
        timestamp=event.at,
        payload=json.loads(event.payload),
        status=event.status,
        duration_ms=None if event.duration_us is None else as_milliseconds(event.duration_us),
    )
