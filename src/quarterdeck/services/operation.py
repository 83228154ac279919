"""`@operation`: guard, trace, run, in this order, for every surface."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial, wraps
from inspect import signature
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from quarterdeck.domain.access import Scope, scope_of
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.guard import Request, Rule
from quarterdeck.domain.ids import new_id
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.meter import Meter, NoMeter
from quarterdeck.ports.store import Store, Transaction
from quarterdeck.services.calls import Call, Frame, current_frame, render_plainly, within
from quarterdeck.services.recorder import Outcome, Recorder, Rendered, Run

logger = logging.getLogger(__name__)

P = ParamSpec("P")
A = TypeVar("A")
Span = Callable[[str], AbstractContextManager[object]]


def no_span(_name: str) -> AbstractContextManager[object]:
    """Stand in for telemetry when no exporter is configured."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Operations:
    """What `@operation` needs of the running program; every service holds one."""

    store: Store
    recorder: Recorder
    clock: Clock
    rules: Sequence[Rule] = ()
    span: Span = no_span
    meter: Meter = field(default_factory=NoMeter)

    def begin(self, name: str, frame: Frame, given: Callable[[], object]) -> "Operation":
        """Claim the current call as the root trace, or become a child of what is running.

        A root trace shows what the caller sent, a child what it was `given`.
        """
        started_at, ticks_us = self.clock.now(), self.clock.ticks_us()
        if frame.run is None and not frame.call.claimed:
            run = frame.call.claim(name, started_at=started_at, ticks_us=ticks_us)
            return Operation(self, frame.call, run, is_root=True)
        parent_id = frame.run.trace_id if frame.run else frame.call.call_id
        run = Run(
            trace_id=new_id(started_at),
            parent_id=parent_id,
            workflow_id=name,
            tool=name,
            operation=name,
            surface=frame.call.surface,
            actor=frame.call.actor,
            input=given(),
            request_id=frame.call.request_id,
            traceparent=frame.call.traceparent,
            recorded=frame.call.recorded,
            started_at=started_at,
            ticks_us=ticks_us,
        )
        return Operation(self, frame.call, run, is_root=False)


class Operation:
    """One run of a service method; it hands its decision and its trace over together."""

    def __init__(self, operations: Operations, call: Call, run: Run, *, is_root: bool) -> None:
        """Made by `Operations.begin`."""
        self._operations = operations
        self._call = call
        self._is_root = is_root
        self.run = run

    async def commit(self, decide: Callable[[Transaction], A]) -> A:
        """Carry out the operation's decision and write its finished trace in one transaction."""
        if not self.run.recorded:
            return await self._operations.store.write(decide)

        def decide_and_record(tx: Transaction) -> tuple[A, Rendered]:
            answer = decide(tx)
            rendered = self._render(answer)
            self._operations.recorder.write_end(tx, self.run, Outcome(rendered=rendered))
            return answer, rendered

        answer, rendered = await self._operations.store.write(decide_and_record)
        self._count_trace()
        self._ended(rendered)
        return answer

    async def write(self, decide: Callable[[Transaction], A]) -> A:
        """Commit one step of a long operation; its trace is closed when it ends."""
        return await self._operations.store.write(decide)

    async def read(self, look: Callable[[Transaction], A]) -> A:
        """Look something up beside the writer, so that a slow search holds up nobody's commit."""
        return await self._operations.store.read(look)

    async def start(self) -> None:
        """Commit an open trace, so that work cut short by a crash is found afterwards."""
        if self.run.recorded:
            write_start = self._operations.recorder.write_start
            await self._operations.store.write(lambda tx: write_start(tx, self.run))
            self._count_trace()
            self.run.opened = True

    async def succeed(self, answer: object) -> None:
        """Write the trace of an operation that did not commit it with a decision."""
        if self.run.recorded and not self.run.ended:
            rendered = self._render(answer)
            await self._write_end(Outcome(rendered=rendered))
            self._ended(rendered)

    async def fail(self, error: BaseException) -> None:
        """Write the trace of an operation whose decision was rolled back or never made."""
        if self.run.ended:
            return
        self.run.ended = True
        try:
            await self._write_end(Outcome(error=error))
        except Exception:
            # The caller is told of the first failure; this one, whatever it is, would hide it.
            logger.exception("Could not write the trace of a failed operation")

    async def _write_end(self, outcome: Outcome) -> None:
        if self.run.recorded:
            write_end = self._operations.recorder.write_end
            await self._operations.store.write(lambda tx: write_end(tx, self.run, outcome))
            self._count_trace()

    def _count_trace(self) -> None:
        if not self.run.opened:  # then it was counted when it was opened
            self._operations.meter.trace_written()

    def _render(self, answer: object) -> Rendered:
        return self._call.render(answer) if self._is_root else render_plainly(answer)

    def _ended(self, rendered: Rendered) -> None:
        self.run.ended = True
        if self._is_root:
            self._call.rendered = rendered


class Service(Protocol):
    """Anything with operations."""

    @property
    def operations(self) -> Operations:
        """Return what `@operation` works with."""
        ...


S = TypeVar("S", bound=Service)


def operation(
    name: str, effect: Effect, *, scope: Scope | None = None, long: bool = False
) -> Callable[
    [Callable[Concatenate[S, Operation, P], Awaitable[A]]],
    Callable[Concatenate[S, P], Awaitable[A]],
]:
    """Make a service method an operation; `name` is its noun and verb, as in `memory.store`.

    The method gets an `Operation` that callers do not see. It commits its decision through
    it, or returns an answer that is traced on its own. The caller needs the scope of the
    effect, or `scope` instead. With `long`, an open trace is committed before the method runs.
    """
    needs = scope or scope_of(effect)

    def decorate(
        method: Callable[Concatenate[S, Operation, P], Awaitable[A]],
    ) -> Callable[Concatenate[S, P], Awaitable[A]]:
        parameters = list(signature(method).parameters)[2:]

        @wraps(method)
        async def run(service: S, *args: P.args, **kwargs: P.kwargs) -> A:
            operations, frame = service.operations, current_frame()
            op = operations.begin(
                name, frame, lambda: dict(zip(parameters, args, strict=False)) | kwargs
            )
            call = frame.call
            request = Request(name, effect, needs, call.scopes, call.surface, call.actor)
            with operations.span(name):
                try:
                    for rule in operations.rules:
                        rule(request)
                    if long:
                        await op.start()
                    body = partial(method, service, op, *args, **kwargs)
                    answer = await within(Frame(call, op.run), body)
                    await op.succeed(answer)
                except BaseException as error:
                    await op.fail(error)
                    raise
            return answer

        return run

    return decorate
