"""Calls: what a surface opens before it looks at a request, so that no request goes unrecorded."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import TypeAdapter

from quarterdeck.domain.access import ALL_SCOPES, Scopes
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.json import JsonValue
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.meter import Meter
from quarterdeck.ports.store import Store
from quarterdeck.services.recorder import Outcome, Recorder, Rendered, Run

logger = logging.getLogger(__name__)

T = TypeVar("T")

_ANYTHING: TypeAdapter[object] = TypeAdapter(object)


def render_plainly(answer: object) -> Rendered:
    """Return an answer as JSON for surfaces that promise no schema."""
    return Rendered(_ANYTHING.dump_json(answer, exclude_none=True).decode())


@dataclass(slots=True)
class Call:
    """One request at a surface.

    `name` becomes the trace's workflow id, `input` is what the caller sent. `render` turns
    an answer into the reply's JSON and says where it breaks its schema. A call with
    `recorded` false (a listing on the command line, a page refresh) leaves no trace. One whose
    name only the caller knows is not `named` by us. Its id is given when it is served. Whoever
    calls from this machine's own programs has all scopes.
    """

    surface: str
    name: str
    input: JsonValue
    actor: str = "local"
    request_id: str | None = None
    traceparent: str | None = None
    scopes: Scopes = ALL_SCOPES
    recorded: bool = True
    named: bool = True
    render: Callable[[object], Rendered] = render_plainly
    call_id: str = ""
    claimed: bool = False
    rendered: Rendered | None = None

    def claim(self, operation: str | None, *, started_at: datetime, ticks_us: int) -> Run:
        """Take this call as the root trace; only the first operation can."""
        assert not self.claimed, "a call has one root trace"
        self.claimed = True
        return Run(
            trace_id=self.call_id,
            parent_id=None,
            workflow_id=self.name,
            tool=self.name.partition(".")[2] or self.name,
            operation=operation,
            surface=self.surface,
            actor=self.actor,
            input=self.input,
            request_id=self.request_id,
            traceparent=self.traceparent,
            recorded=self.recorded,
            started_at=started_at,
            ticks_us=ticks_us,
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the running code stands: in a call, and perhaps in an operation of it."""

    call: Call
    run: Run | None = None


_frame: ContextVar[Frame | None] = ContextVar("quarterdeck_frame", default=None)


def current_frame() -> Frame:
    """Return the call that is being served; an operation outside of one is a bug."""
    frame = _frame.get()
    assert frame is not None, "a surface must open a call before it uses a service"
    return frame


async def within(frame: Frame, body: Callable[[], Awaitable[T]]) -> T:
    """Run `body` with `frame` as the current one."""
    token = _frame.set(frame)
    try:
        return await body()
    finally:
        _frame.reset(token)


class Calls:
    """Opens calls and records those that no operation claimed."""

    def __init__(self, store: Store, recorder: Recorder, clock: Clock, meter: Meter) -> None:
        """Calls are written by `recorder` through `store`, and counted by `meter`."""
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self._meter = meter
        self.running = 0  # calls being served now
        self._idle = asyncio.Event()
        self._idle.set()

    async def serve(self, call: Call, body: Callable[[], Awaitable[T]]) -> T:
        """Run `body` as `call`, which leaves exactly one root trace however it ends."""
        started_at, ticks_us = self._clock.now(), self._clock.ticks_us()
        call.call_id = new_id(started_at)
        self.running += 1
        self._idle.clear()
        try:
            answer = await self._traced(call, body, started_at, ticks_us)
        except BaseException as error:
            self._ended(call, ticks_us, error)
            raise
        self._ended(call, ticks_us, None)
        return answer

    async def until_idle(self) -> None:
        """Wait until no call is being served."""
        await self._idle.wait()

    def _ended(self, call: Call, ticks_us: int, error: BaseException | None) -> None:
        self.running -= 1
        if not self.running:
            self._idle.set()
        took_us = self._clock.ticks_us() - ticks_us
        self._meter.call_ended(call.surface, call.name if call.named else None, error, took_us)

    async def _traced(
        self, call: Call, body: Callable[[], Awaitable[T]], started_at: datetime, ticks_us: int
    ) -> T:
        try:
            answer = await within(Frame(call), body)
        except BaseException as error:
            if not call.claimed:
                run = call.claim(None, started_at=started_at, ticks_us=ticks_us)
                await self._record_failure(run, error)
            raise
        if not call.claimed:
            run = call.claim(None, started_at=started_at, ticks_us=ticks_us)
            call.rendered = call.rendered or call.render(answer)
            await self._record(run, Outcome(rendered=call.rendered))
        return answer

    async def _record(self, run: Run, outcome: Outcome) -> None:
        if run.recorded:
            await self._store.write(lambda tx: self._recorder.write_end(tx, run, outcome))
            self._meter.trace_written()

    async def _record_failure(self, run: Run, error: BaseException) -> None:
        try:
            await self._record(run, Outcome(error=error))
        except Exception:
            # The caller is told of the first failure; this one, whatever it is, would hide it.
            logger.exception("Could not write the trace of a failed call")
