"""Runs this process's agents: brings them up, keeps them at work, sees them off."""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from quarterdeck.domain.agent_events import AgentEvent, PermissionRequest, Spent
from quarterdeck.domain.agent_log import LogKind, LogLevel, LogRole
from quarterdeck.domain.agents import AgentStatus
from quarterdeck.domain.tasks import Task, TaskState
from quarterdeck.domain.workspaces import Saved
from quarterdeck.errors import QuarterdeckError
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.runtime import AgentRuntime, AgentSpec, Berth
from quarterdeck.ports.store import Store, Transaction
from quarterdeck.services.crew.badges import Badges
from quarterdeck.services.crew.changes import Changes
from quarterdeck.services.crew.desk import QuestionDesk
from quarterdeck.services.crew.ledger import Ledger
from quarterdeck.services.crew.limits import Meter
from quarterdeck.services.crew.log_writer import LogWriter, Voice
from quarterdeck.services.crew.members import Member
from quarterdeck.services.crew.outcomes import (
    CANCELED,
    Outcome,
    outcome_of,
    outcome_of_failure,
)
from quarterdeck.services.crew.persistence import write_for_sure
from quarterdeck.services.crew.records import TaskRecords
from quarterdeck.services.crew.rows import FleetRows
from quarterdeck.services.crew.telling import Telling
from quarterdeck.services.crew.warden import STOP_SECONDS, Warden

logger = logging.getLogger(__name__)

T = TypeVar("T")

MOST_RESTARTS = 5
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
# At the end of this process, a database that is away is not waited for much longer.
LAST_WORDS_SECONDS = 5.0
RESUME = "You were interrupted. Look at what is already done, and go on with this task:\n\n"


@dataclass(frozen=True, slots=True)
class CrewParts:
    """What a crew works with."""

    store: Store
    clock: Clock
    rows: FleetRows
    log: LogWriter
    desk: QuestionDesk
    changes: Changes
    records: TaskRecords
    runtimes: Mapping[str, AgentRuntime]
    badges: Badges


class Crew:
    """The agents that this process runs; implements `RuntimeListener`."""

    def __init__(self, parts: CrewParts, *, first_pause: float = FIRST_PAUSE) -> None:
        """Nobody is aboard at first; who breaks down comes back after `first_pause` seconds."""
        self._parts = parts
        self._ledger = Ledger(parts.rows, parts.clock)
        self._warden = Warden(parts.log, parts.desk, self.spawn)
        self._first_pause = first_pause
        self._members: dict[str, Member] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._is_closing = False

    @property
    def changes(self) -> Changes:
        """Return what wakes those who wait for agents."""
        return self._parts.changes

    @property
    def busy(self) -> int:
        """Count the agents that are at work, starting or ending."""
        return sum(1 for member in self._members.values() if member.job and not member.job.done())

    def shown(self, text: str) -> str:
        """Return a text as it may be shown to anybody."""
        return self._parts.records.shown(text)

    def member(self, agent_id: str) -> Member | None:
        """Return an agent that is run here, or `None`."""
        return self._members.get(agent_id)

    def alone_with(self, agent_id: str) -> asyncio.Lock:
        """Return what is held by who starts an agent anew or removes it: one at a time."""
        return self._locks.setdefault(agent_id, asyncio.Lock())

    async def open(self) -> None:
        """Get the runtimes ready."""
        for runtime in self._parts.runtimes.values():
            await runtime.open(self)
        self.spawn(self._parts.log.run())

    async def close(self) -> None:
        """Stop every agent in good order, and say in each record that it was stopped."""
        self._is_closing = True
        await asyncio.gather(*map(self._put_aside, list(self._members.values())))
        for runtime in self._parts.runtimes.values():
            await runtime.close()
        try:
            await asyncio.wait_for(self._strike_all(), LAST_WORDS_SECONDS)
        except TimeoutError:
            logger.exception("Cannot write how agents ended; the next start will say it")
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def spawn(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Run something beside all calls; it belongs to none of them."""
        task = asyncio.create_task(work, context=contextvars.Context())
        self._background.add(task)
        task.add_done_callback(self._ended)
        return task

    def launch(self, spec: AgentSpec, runtime: AgentRuntime, *, is_new: bool) -> None:
        """Bring an agent up, and let it work on what waits for it."""
        telling = Telling(self._parts.log, spec.agent_id)
        member = Member(spec=spec, runtime=runtime, telling=telling)
        self._members[spec.agent_id] = member
        member.job = self.spawn(self._job(member, self._come_up(member, is_new=is_new)))

    def wake(self, agent_id: str) -> None:
        """Let an agent look whether there is something to do."""
        member = self._members.get(agent_id)
        if member is None:
            return
        member.has_more = True
        if member.job is None or member.job.done():
            member.job = self.spawn(self._job(member, self._work(member)))

    async def interrupt(self, agent_id: str, task_id: str | None) -> bool:
        """Ask an agent to stop a task; return whether it was seen to stop."""
        member = self._members.get(agent_id)
        if member is None:
            return False
        member.unwanted = task_id  # and if it was not begun yet, it never is
        if task_id is not None and member.task_id == task_id:
            await member.runtime.interrupt(agent_id)
            self._parts.desk.withdraw(agent_id)
        try:
            await asyncio.wait_for(self._no_longer_canceling(agent_id), STOP_SECONDS)
        except TimeoutError:
            return False
        return True

    async def put_ashore(self, agent_id: str) -> None:
        """Stop an agent's process and whatever this process does for it."""
        member = self._members.pop(agent_id, None)
        if member is None:
            return
        await self._put_aside(member)
        await member.runtime.stop(agent_id)
        await self._parts.badges.revoke(member.spec.name)

    async def remove(self, berth: Berth, runtime: AgentRuntime) -> Saved | None:
        """Stop an agent and remove its workspace, after its work is saved."""
        await self.put_ashore(berth.agent_id)
        saved = await runtime.delete(berth)
        self._parts.log.forget(berth.agent_id)
        return saved

    async def heard(self, agent_id: str, event: AgentEvent) -> None:
        """Take note of an event."""
        member = self._members.get(agent_id)
        if member is None:
            return
        await member.telling.tell(event, member.task_id)
        member.hear(event)
        if isinstance(event, Spent) and event.cost is not None:
            member.cost_so_far = event.cost
        if member.meter is not None:
            member.meter.note(event)
            self._warden.look_at(member)

    async def asked(self, agent_id: str, request: PermissionRequest) -> str | None:
        """Return the id of the chosen option; may take a person's time."""
        member = self._members.get(agent_id)
        if member is None:
            return None
        if member.meter is not None:
            member.meter.pause()
        try:
            return await self._parts.desk.decide(member.asker, request)
        finally:
            if member.meter is not None:
                member.meter.go_on()

    async def gone(self, agent_id: str, reason: str) -> None:
        """Learn that an agent ended by itself; one at work says so where it is waited for."""
        member = self._members.get(agent_id)
        if member is None or self._is_closing:
            return
        if member.job and not member.job.done():
            member.lost = reason
            return
        member.job = self.spawn(self._job(member, self._come_back(member, reason)))

    async def _job(self, member: Member, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            # A bug of ours must not leave an agent that seems to work for ever.
            logger.exception("The work of agent %r broke off", member.spec.name)
            await self._give_up(member, "Quarterdeck failed; its log has the reason")

    async def _come_up(self, member: Member, *, is_new: bool) -> None:
        try:
            await self._start(member, is_new=is_new)
        except QuarterdeckError as error:
            await self._give_up(member, _problem(error))
        else:
            await self._work(member)

    async def _start(self, member: Member, *, is_new: bool) -> None:
        endpoint = await self._parts.badges.issue(member.spec)
        member.spec = spec = replace(member.spec, endpoint=endpoint)
        member.lost = None
        start = member.runtime.create if is_new else member.runtime.restart

        async def report(line: str) -> None:
            await self._tell(member, LogLevel.INFO, LogKind.STATE, line)

        started = await start(spec, report)
        member.spec = replace(spec, conversation=started.conversation)
        ready = partial(self._ledger.up, agent_id=spec.agent_id, conversation=started.conversation)
        spent = await self._persist(ready)
        # Agents count the cost of a conversation, and go on counting where they go on with it.
        member.cost_so_far = spent.cost if started.resumed else 0.0

    async def _work(self, member: Member) -> None:
        """Work on one task after the other until none is left."""
        agent_id = member.spec.agent_id
        while True:
            if member.lost is not None:
                await self._come_back(member, member.lost)
                return
            member.has_more = False
            task = await self._persist(partial(self._ledger.next_task, agent_id=agent_id))
            self._parts.changes.tell()
            if task is not None:
                if not await self._do(member, task):
                    return
            elif not member.has_more and member.lost is None:
                return

    async def _do(self, member: Member, task: Task) -> bool:
        """Have the agent do a task; return whether it can go on with the next."""
        voice = Voice(LogLevel.INFO, LogRole.USER, LogKind.TASK, task.id)
        await self._parts.log.add(member.spec.agent_id, voice, task.message)
        meter = Meter(member.role.limits, self._parts.clock.ticks_us, member.cost_so_far)
        member.begin(task.id, meter, Telling(self._parts.log, member.spec.agent_id))
        timer = self._warden.keep_time(member, meter)
        try:
            outcome = await self._turn_of(member, task)
        except QuarterdeckError as error:
            outcome = outcome_of_failure(error, member.stopped_for)
        finally:
            timer.cancel()
            member.end()
        await self._finish(member, task, outcome, meter)
        is_up = member.runtime.is_running(member.spec.agent_id)
        if is_up or outcome.state is TaskState.DONE:
            member.failures = 0
        if not is_up:
            await self._come_back(member, outcome.problem or member.lost or "its process ended")
        return is_up

    async def _turn_of(self, member: Member, task: Task) -> Outcome:
        if member.unwanted == task.id:
            return CANCELED
        end = await member.runtime.run(member.spec.agent_id, _text_of(task))
        is_unwanted = member.unwanted == task.id
        return outcome_of(end, cancel_asked=is_unwanted, stopped_for=member.stopped_for)

    async def _finish(self, member: Member, task: Task, outcome: Outcome, meter: Meter) -> None:
        agent_id = member.spec.agent_id
        if outcome.state is TaskState.FAILED and outcome.problem:
            await self._tell(member, LogLevel.ERROR, LogKind.ERROR, outcome.problem)
        await self._parts.log.flush(agent_id)
        record = await self._parts.records.of(member, task, outcome, meter)
        await self._persist(lambda tx: self._parts.records.write(tx, record))
        self._parts.changes.tell()

    async def _give_up(self, member: Member, reason: str) -> None:
        agent_id = member.spec.agent_id
        await self._tell(member, LogLevel.ERROR, LogKind.ERROR, reason)
        await self._parts.log.flush(agent_id)
        shown = self._parts.records.shown(reason)
        await self._persist(partial(self._ledger.failed, agent_id=agent_id, reason=shown))
        self._parts.changes.tell()

    async def _come_back(self, member: Member, reason: str) -> None:
        """Start an agent again that broke down, after a pause that grows each time."""
        while True:
            member.failures += 1
            if member.failures > MOST_RESTARTS:
                await self._give_up(member, f"{reason} (after {MOST_RESTARTS} new starts)")
                return
            await self._pause(member, reason)
            try:
                await self._start(member, is_new=False)
            except QuarterdeckError as error:
                reason = _problem(error)
            else:
                await self._work(member)
                return

    async def _pause(self, member: Member, reason: str) -> None:
        longest = max(LONGEST_PAUSE, self._first_pause)
        pause = min(self._first_pause * 2 ** (member.failures - 1), longest)
        shown = self._parts.records.shown(f"{reason}; it is started again in {pause:g} s")
        await self._tell(member, LogLevel.ERROR, LogKind.ERROR, shown)
        # Not failed: whoever waits for it may go on waiting, and the next daemon keeps the promise.
        await self._turn(member.spec.agent_id, AgentStatus.STARTING, shown)
        await asyncio.sleep(pause)

    async def _turn(self, agent_id: str, status: AgentStatus, reason: str | None) -> None:
        rows, now = self._parts.rows, self._parts.clock.now()
        await self._persist(lambda tx: rows.turn(tx, agent_id, status, now, reason=reason))
        self._parts.changes.tell()

    async def _put_aside(self, member: Member) -> None:
        self._parts.desk.withdraw(member.spec.agent_id)
        if member.job is not None and not member.job.done():
            member.job.cancel()
            await asyncio.gather(member.job, return_exceptions=True)
        member.end()

    async def _no_longer_canceling(self, agent_id: str) -> None:
        find = self._parts.rows.agents.find
        async with self._parts.changes.watched() as changed:
            while True:
                agent = await self._parts.store.read(lambda tx: find(tx, agent_id))
                if agent is None or agent.status is not AgentStatus.CANCELING:
                    return
                await changed.wait()
                changed.clear()

    async def _strike_all(self) -> None:
        for agent_id in list(self._members):
            await self._parts.log.flush(agent_id)
            await self._persist(partial(self._ledger.stopped, agent_id=agent_id))

    async def _tell(self, member: Member, level: LogLevel, kind: LogKind, text: str) -> None:
        voice = Voice(level, LogRole.SYSTEM, kind, member.task_id)
        await self._parts.log.add(member.spec.agent_id, voice, text)

    async def _persist(self, decide: Callable[[Transaction], T]) -> T:
        return await write_for_sure(self._parts.store, decide)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("An agent's work broke off", exc_info=error)


def _problem(error: QuarterdeckError) -> str:
    problem = str(error.details.get("problem") or error.message)
    # Nobody waits for the error itself: the agent's reason has to say what to do as well.
    return f"{problem}; {error.hint}" if error.hint else problem


def _text_of(task: Task) -> str:
    return task.message if task.started_at is None else RESUME + task.message
