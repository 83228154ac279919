"""Holds agents to the limits of their roles, because they do not stop by themselves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from quarterdeck.domain.agent_log import LogKind, LogLevel, LogRole
from quarterdeck.errors import QuarterdeckError
from quarterdeck.services.crew.desk import QuestionDesk
from quarterdeck.services.crew.limits import Meter
from quarterdeck.services.crew.log_writer import LogWriter, Voice
from quarterdeck.services.crew.members import Member

# How long an agent that was interrupted may take to stop before it is ended.
STOP_SECONDS = 10.0
# A limit of time is looked at when it is due, and now and then in between: questions pause it.
LONGEST_LOOK, SHORTEST_LOOK = 30.0, 0.05


class Warden:
    """Interrupts who has reached a limit, and ends who does not stop."""

    def __init__(
        self,
        log: LogWriter,
        desk: QuestionDesk,
        spawn: Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"],
    ) -> None:
        """What takes time is run by `spawn`: whoever tells of an event does not wait for it."""
        self._log = log
        self._desk = desk
        self._spawn = spawn

    def look_at(self, member: Member) -> None:
        """Stop the task at hand if it has reached a limit."""
        if member.stopped_for is None and member.meter is not None:
            member.stopped_for = member.meter.reached()
            if member.stopped_for is not None:
                self._spawn(self._stop(member, member.stopped_for))

    def keep_time(self, member: Member, meter: Meter) -> "asyncio.Task[None]":
        """Watch the clock until the task of `meter` has ended."""
        return self._spawn(self._keep_time(member, meter))

    async def _keep_time(self, member: Member, meter: Meter) -> None:
        while member.meter is meter and member.stopped_for is None:
            await asyncio.sleep(min(max(meter.seconds_left(), SHORTEST_LOOK), LONGEST_LOOK))
            self.look_at(member)

    async def _stop(self, member: Member, limit: str) -> None:
        agent_id, turn = member.spec.agent_id, member.turn_ended
        voice = Voice(LogLevel.WARN, LogRole.SYSTEM, LogKind.LIMIT, member.task_id)
        await self._log.add(agent_id, voice, f"Stopped at a limit: {limit}")
        try:
            await member.runtime.interrupt(agent_id)
            self._desk.withdraw(agent_id)
            await asyncio.wait_for(turn.wait(), STOP_SECONDS)
        except (TimeoutError, QuarterdeckError):
            await member.runtime.stop(agent_id)
