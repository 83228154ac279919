"""Turns runs into traces: events in order, payloads redacted and capped."""

import asyncio
import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from pydantic_core import to_json

from quarterdeck.domain.json import JsonValue, depth_of, dump
from quarterdeck.domain.redaction import Redactor
from quarterdeck.domain.trace import (
    PAYLOAD_BYTES,
    PREVIEW_LIMIT,
    EventType,
    Trace,
    TraceEvent,
    TraceStatus,
    as_milliseconds,
)
from quarterdeck.errors import InternalError, QuarterdeckError
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.repositories import TraceRepository
from quarterdeck.ports.store import Transaction

# A number, or a W3C traceparent: nothing to hide, and different in every call.
_HARMLESS = re.compile(r"[0-9]{1,19}|00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")

CANCELLED = "CANCELLED"
INTERRUPTED = "INTERRUPTED"
LABEL_LENGTH = 200
# JSON readers give up at 200 levels, and a reader of traces sees a payload inside an answer.
PAYLOAD_DEPTH = 150


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer as it leaves: JSON text, and where it breaks the schema it was promised by."""

    text: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: with an answer or with an error."""

    rendered: Rendered | None = None
    error: BaseException | None = None


@dataclass(slots=True)
class Run:
    """One operation on its way to a trace; the root run of a call, or work inside it."""

    trace_id: str
    parent_id: str | None
    workflow_id: str
    tool: str
    operation: str | None
    surface: str
    actor: str
    input: object
    request_id: str | None
    traceparent: str | None
    recorded: bool
    started_at: datetime
    ticks_us: int
    opened: bool = False
    ended: bool = False


class Recorder:
    """Writes runs as traces, in the transaction of the state they belong to."""

    def __init__(
        self, traces: TraceRepository, redactor: Redactor, clock: Clock, daemon_id: str
    ) -> None:
        """Every trace written here belongs to the process `daemon_id`."""
        self._traces = traces
        self._redactor = redactor
        self._clock = clock
        self._daemon_id = daemon_id
        # Tools and clients come again with every call.
        self._known_label = lru_cache(maxsize=500)(self._as_label)

    def write_start(self, tx: Transaction, run: Run) -> None:
        """Write an open trace, for work that will outlast one transaction."""
        events = self._opening(run)
        self._traces.add(tx, self._trace(run, TraceStatus.RUNNING, events, duration_us=0))

    def write_end(self, tx: Transaction, run: Run, outcome: Outcome) -> None:
        """Write how a run ended: the whole trace, or the rest of an open one."""
        duration_us = self._clock.ticks_us() - run.ticks_us
        status = TraceStatus.FAILURE if outcome.error else TraceStatus.SUCCESS
        opening = self._opening(run)
        closing = self._closing(run, outcome, status, duration_us, first=len(opening) + 1)
        whole = self._trace(run, status, opening + closing, duration_us)
        if not run.opened:
            self._traces.add(tx, whole)
            return
        is_closed = self._traces.close(tx, self._trace(run, status, closing, duration_us))
        if not is_closed and self._traces.find(tx, run.trace_id) is None:
            # The database was restored while the work went on, to a time before it began.
            self._traces.add(tx, whole)

    def write_interruption(self, tx: Transaction, trace: Trace) -> None:
        """Close a trace whose process is gone."""
        now = self._clock.now()
        duration_us = max(0, (now - trace.started_at) // timedelta(microseconds=1))
        failure, first = TraceStatus.FAILURE, trace.event_count + 1
        error = {"code": INTERRUPTED, "message": "The process ended before the work did"}
        end = {"success": False, "totalDurationMs": as_milliseconds(duration_us)}
        events = (
            TraceEvent(first, EventType.ERROR, now, dump(error), failure),
            TraceEvent(first + 1, EventType.RUN_END, now, dump(end), failure, duration_us),
        )
        closed = Trace(
            trace_id=trace.trace_id,
            parent_id=trace.parent_id,
            workflow_id=trace.workflow_id,
            operation=trace.operation,
            surface=trace.surface,
            actor=trace.actor,
            daemon_id=trace.daemon_id,
            status=failure,
            started_at=trace.started_at,
            ended_at=now,
            duration_us=duration_us,
            events=events,
        )
        self._traces.close(tx, closed)

    def _opening(self, run: Run) -> tuple[TraceEvent, ...]:
        about = {"surface": run.surface, "actor": self._label(run.actor)}
        if run.request_id is not None:
            about["requestId"] = self._reference(run.request_id)
        if run.traceparent is not None:
            about["traceparent"] = self._reference(run.traceparent)
        start = dump(about)
        invoke = f'{{"toolName":{self._name(run)},"input":{self._input(run)}}}'
        return (
            TraceEvent(1, EventType.RUN_START, run.started_at, start),
            TraceEvent(2, EventType.TOOL_INVOKE, run.started_at, invoke),
        )

    def _closing(
        self, run: Run, outcome: Outcome, status: TraceStatus, duration_us: int, *, first: int
    ) -> tuple[TraceEvent, ...]:
        ended_at = run.started_at + timedelta(microseconds=duration_us)
        milliseconds = as_milliseconds(duration_us)
        succeeded = "true" if status is TraceStatus.SUCCESS else "false"
        output, problems = self._output(run, outcome)
        result = (
            f'{{"toolName":{self._name(run)},"success":{succeeded},'
            f'"durationMs":{milliseconds},"output":{output}{problems}}}'
        )
        events = [TraceEvent(first, EventType.TOOL_RESULT, ended_at, result, status, duration_us)]
        if outcome.error is not None:
            code, message = self._words(run, outcome.error)
            payload = self._redactor.json(_spelled({"code": code, "message": message}))
            events.append(TraceEvent(first + 1, EventType.ERROR, ended_at, payload, status))
        end = f'{{"success":{succeeded},"totalDurationMs":{milliseconds}}}'
        events.append(
            TraceEvent(first + len(events), EventType.RUN_END, ended_at, end, status, duration_us)
        )
        return tuple(events)

    def _output(self, run: Run, outcome: Outcome) -> tuple[str, str]:
        if outcome.error is not None:
            return self.capped(_spelled(self._error_body(run, outcome.error))), ""
        assert outcome.rendered is not None, "a run ends with an answer or an error"
        output, problems = self.capped(outcome.rendered.text), outcome.rendered.problems
        if not problems:
            return output, ""
        return output, f',"outputProblems":{self._redactor.json(dump(list(problems)))}'

    def _error_body(self, run: Run, error: BaseException) -> object:
        if isinstance(error, QuarterdeckError):
            return error.body()
        code, message = self._words(run, error)
        return {"success": False, "error": {"code": code, "message": message, "details": {}}}

    @staticmethod
    def _words(run: Run, error: BaseException) -> tuple[str, str]:
        if isinstance(error, QuarterdeckError):
            return error.code, error.message
        if isinstance(error, asyncio.CancelledError):
            return CANCELLED, "The request was cancelled"
        # The text of a foreign exception may hold anything; its type is enough here, and the
        # log has the rest under the same reference.
        internal = InternalError(run.trace_id)
        return internal.code, f"{internal.message} ({type(error).__name__})"

    def _name(self, run: Run) -> str:
        return dump(self._label(run.tool))

    def _reference(self, text: str) -> str:
        return text if _HARMLESS.fullmatch(text) else self._label(text)

    def _label(self, text: str) -> str:
        # Cut before it is kept, but not where a credential could be cut in two.
        return self._known_label(text[: 2 * LABEL_LENGTH])

    def _as_label(self, text: str) -> str:
        return _storable(self._redactor.text(text))

    def _input(self, run: Run) -> str:
        return self.capped(_spelled(run.input))

    def capped(self, document: str) -> str:
        """Return a JSON document fit to be stored: redacted, and cut with its true size."""
        # Every character takes at least one byte, so most documents need no encoding.
        is_small = len(document) * 4 <= PAYLOAD_BYTES or len(document.encode()) <= PAYLOAD_BYTES
        if is_small and not _is_too_deep(document):
            return self._redactor.json(document)
        size = len(document.encode())
        cut: dict[str, JsonValue] = {"truncated": True, "size": size}
        if size <= PREVIEW_LIMIT:
            start = self._redactor.json(document).encode()[:PAYLOAD_BYTES]
            cut["preview"] = start.decode(errors="ignore")
        return dump(cut)

    def _trace(
        self, run: Run, status: TraceStatus, events: tuple[TraceEvent, ...], duration_us: int
    ) -> Trace:
        ended = status is not TraceStatus.RUNNING
        return Trace(
            trace_id=run.trace_id,
            parent_id=run.parent_id,
            workflow_id=self._label(run.workflow_id),
            operation=run.operation,
            surface=run.surface,
            actor=self._label(run.actor),
            daemon_id=self._daemon_id,
            status=status,
            started_at=run.started_at,
            ended_at=run.started_at + timedelta(microseconds=duration_us) if ended else None,
            duration_us=duration_us,
            events=events,
            event_count=len(events),
        )


def _storable(text: str) -> str:
    """Return a caller's word for something, cut and mended so that both databases can keep it."""
    cut = text[:LABEL_LENGTH].replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return cut.encode(errors="replace").decode()


def _spelled(value: object) -> str:
    """Return what a caller sent as JSON, whatever it was."""
    try:
        return to_json(value, inf_nan_mode="null", fallback=repr).decode()
    except ValueError:
        return _spelled_with_patience(value)


def _spelled_with_patience(value: object) -> str:
    """Spell what is nested deeply or has half a character; the other way is faster."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=repr)
        return text.encode(errors="replace").decode()
    except (ValueError, RecursionError):
        return dump({"unreadable": type(value).__name__})


def _is_too_deep(document: str) -> bool:
    # Hardly any document has so many brackets that it has to be parsed for this.
    if document.count("{") + document.count("[") <= PAYLOAD_DEPTH:
        return False
    return depth_of(json.loads(document), PAYLOAD_DEPTH) > PAYLOAD_DEPTH
