"""Traces: what was called, by whom, with what, and how it ended, as a sequence of events."""

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from quarterdeck.domain.answer import Answer
from quarterdeck.domain.json import JsonObject

TRACE_ID_LENGTH = 100
PAYLOAD_BYTES = 64 * 1024
# A document this large is only ever a refused one; making a preview of it is not worth the time.
PREVIEW_LIMIT = 2 * 1024 * 1024

_EVENT_IDS = uuid.UUID("5b0f6f6e-3c0a-4d57-9a9e-0f3c1f5c7a11")


class TraceStatus(StrEnum):
    """A trace is running until its `run.end` event is written."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "failure"


class EventType(StrEnum):
    """The events a trace is made of, in the order they occur."""

    RUN_START = "run.start"
    TOOL_INVOKE = "tool.invoke"
    TOOL_RESULT = "tool.result"
    ERROR = "error"
    RUN_END = "run.end"


# Tuples, because every call makes five of them: a frozen dataclass takes ten times as long.
class TraceEvent(NamedTuple):
    """One event; `payload` is redacted, capped JSON text."""

    sequence: int
    type: EventType
    at: datetime
    payload: str
    status: TraceStatus | None = None
    duration_us: int | None = None


class Trace(NamedTuple):
    """One operation from its start to its end. A root trace is one call of a surface."""

    trace_id: str
    parent_id: str | None
    workflow_id: str
    operation: str | None
    surface: str
    actor: str
    daemon_id: str
    status: TraceStatus
    started_at: datetime
    ended_at: datetime | None
    duration_us: int
    events: tuple[TraceEvent, ...] = ()
    event_count: int = 0


def event_id(trace_id: str, sequence: int) -> str:
    """Return the id of an event; it is the same each time the event is read."""
    return str(uuid.uuid5(_EVENT_IDS, f"{trace_id}/{sequence}"))


def as_milliseconds(duration_us: int) -> float:
    """Return a duration in the contract's unit."""
    return duration_us / 1000


class TraceRow(Answer):
    """One line of `trace_list`."""

    trace_id: str
    workflow_id: str
    start_time: datetime
    end_time: datetime | None = None
    status: TraceStatus
    event_count: int
    duration_ms: float
    actor: str
    surface: str


class TraceListResponse(Answer):
    """Newest first; one row for each call that reached the server."""

    traces: list[TraceRow]


class TraceEventRow(Answer):
    """One event as a reader sees it."""

    event_id: str
    type: EventType
    sequence: int
    timestamp: datetime
    payload: JsonObject | None = None
    status: TraceStatus | None = None
    duration_ms: float | None = None


class ChildTrace(Answer):
    """An operation that ran inside another one."""

    trace_id: str
    workflow_id: str
    status: TraceStatus
    duration_ms: float


class TraceGetResponse(Answer):
    """A trace with all its events and the traces of the work done inside it."""

    trace_id: str
    workflow_id: str
    parent_trace_id: str | None = None
    start_time: datetime
    end_time: datetime | None = None
    status: TraceStatus
    duration_ms: float
    actor: str
    surface: str
    events: list[TraceEventRow]
    children: list[ChildTrace]


Severity = Literal["info", "warning", "error"]


class SlowestStep(Answer):
    """The step that took longest."""

    step_id: str
    step_name: str
    duration_ms: float


class Performance(Answer):
    """Durations in milliseconds, from the stored events."""

    total_duration: float
    average_step_duration: float
    slowest_step: SlowestStep | None = None


class Finding(Answer):
    """Something a reader of the trace should know or do."""

    type: str
    message: str
    severity: Severity


class Metrics(Answer):
    """Counts over the steps of a trace."""

    step_count: int
    success_rate: float
    error_count: int


class TraceAnalyzeResponse(Answer):
    """What the stored events say about a trace; nothing is guessed."""

    trace_id: str
    summary: str
    performance: Performance
    issues: list[Finding]
    recommendations: list[Finding]
    metrics: Metrics
