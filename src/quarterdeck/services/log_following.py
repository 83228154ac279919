"""Following what an agent says, for those who watch it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from quarterdeck.domain.agent_log import LogEntry, LogKind, LogLevel
from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.command_answers import FollowAgentLogResponse
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import LogEntryDetail
from quarterdeck.domain.redaction import Redactor
from quarterdeck.ports.store import Transaction
from quarterdeck.services.agent_logs import detail_of
from quarterdeck.services.crew.changes import Changes
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation
from quarterdeck.services.questions import question_row
from quarterdeck.services.watch import LOOK_SECONDS

# An agent says a word at a time; what comes within this is answered together.
GATHER_SECONDS = 0.1
# Of one look; the rest comes with the next.
MOST_ENTRIES = 200

_LEVELS = tuple(LogLevel)
_WORKING = frozenset({AgentStatus.BUSY, AgentStatus.CANCELING})
_TALKING = frozenset({LogKind.MESSAGE, LogKind.THOUGHT})


@dataclass(frozen=True, slots=True)
class Position:
    """How far a log was seen: all before the entry `seq`, and `offset` letters of that one."""

    seq: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a watcher wants to see; `state` is what it was told last of the agent."""

    level: LogLevel = LogLevel.DEBUG
    state: str | None = None


class LogFollowingService:
    """Agents' logs as they grow."""

    def __init__(self, fleet: Fleet, redactor: Redactor, heard: Changes) -> None:
        """`heard` tells that entries were written; `redactor` takes out credentials."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._redactor = redactor
        self._heard = heard

    @operation("agent.log_end", Effect.READ)
    async def last(
        self, op: Operation, name: str, *, count: int, wanted: Wanted
    ) -> FollowAgentLogResponse:
        """Return the last entries that are wanted, oldest first."""

        def look(tx: Transaction) -> FollowAgentLogResponse:
            agent = self._fleet.find_in(tx, name)
            return self._look(tx, agent, self._back(tx, agent, count, wanted.level), wanted.level)

        return await op.read(look)

    @operation("agent.log_follow", Effect.READ)
    async def follow(
        self,
        op: Operation,
        name: str,
        seen: Position,
        *,
        wanted: Wanted,
        wait_seconds: float,
    ) -> FollowAgentLogResponse:
        """Return what came since, as soon as something has; or nothing when time is up.

        A word that did not go on in that time is whole.
        """

        def look(tx: Transaction, *, is_late: bool = False) -> FollowAgentLogResponse:
            agent = self._fleet.find_in(tx, name)
            return self._look(tx, agent, seen, wanted.level, is_late=is_late)

        loop = asyncio.get_running_loop()
        ends_at = loop.time() + wait_seconds
        changes = self._fleet.crew.changes
        async with changes.watched() as changed, self._heard.watched(changed):
            while True:
                answer, left = await op.read(look), ends_at - loop.time()
                is_news = wanted.state is not None and answer.state != wanted.state
                if answer.logs or is_news:
                    return answer
                if left <= 0:
                    return await op.read(lambda tx: look(tx, is_late=True))
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), min(left, LOOK_SECONDS))
                await asyncio.sleep(GATHER_SECONDS)
                changed.clear()

    def _back(self, tx: Transaction, agent: Agent, count: int, level: LogLevel) -> Position:
        """Return where the last `count` entries of at least a level begin."""
        rows, found = self._fleet.rows.log, 0
        span = rows.span(tx, agent.id)
        if not count:
            newest = rows.entries(tx, agent.id, span.last, span.last)
            said = "".join(self._redactor.text(entry.message) for entry in newest)
            return Position(span.last, len(said))
        last = span.last
        while last >= max(span.first, 1):
            first = max(span.first, last - MOST_ENTRIES + 1)
            for entry in rows.entries(tx, agent.id, first, last):
                found += _is_at_least(entry.level, level)
                if found == count:
                    return Position(entry.seq)
            last = first - 1
        return Position(span.first)

    def _look(
        self,
        tx: Transaction,
        agent: Agent,
        seen: Position,
        level: LogLevel,
        *,
        is_late: bool = False,
    ) -> FollowAgentLogResponse:
        rows = self._fleet.rows
        span = rows.log.span(tx, agent.id)
        until = min(span.last, max(seen.seq, span.first) + MOST_ENTRIES)
        entries = rows.log.entries(tx, agent.id, seen.seq, until)[::-1]
        asked = (each for each in rows.questions.open(tx) if each.agent_id == agent.id)
        sight = self._fleet.seen(tx, agent, next(asked, None))
        is_talking = sight.agent.status in _WORKING and not is_late
        growing = span.last if is_talking else None
        logs, seen = self._news(entries, seen, growing)
        newest = rows.tasks.newest_of(tx, agent.id)
        question = question_row(sight.question) if sight.question else None
        return FollowAgentLogResponse(
            agent_name=agent.name,
            status=sight.agent.status,
            state=f"{sight.agent.status} {question.question_id if question else ''}".strip(),
            logs=[each for each in logs if _is_at_least(LogLevel(each.level), level)],
            seq=seen.seq,
            offset=seen.offset,
            has_more=until < span.last,
            task_id=newest.id if newest else None,
            task_state=newest.state if newest else None,
            reason=sight.agent.reason,
            question=question,
        )

    def _news(
        self, entries: Sequence[LogEntry], seen: Position, growing: int | None
    ) -> tuple[list[LogEntryDetail], Position]:
        """Return what of the entries was not seen, and how far that goes."""
        news: list[LogEntryDetail] = []
        for entry in entries:
            is_growing = entry.seq == growing and entry.kind in _TALKING
            text = self._redactor.text(_whole_words(entry.message) if is_growing else entry.message)
            offset = seen.offset if entry.seq == seen.seq else 0
            if text[offset:]:
                news.append(detail_of(entry, text[offset:]))
            seen = Position(entry.seq, max(offset, len(text)))
        return news, seen


def _whole_words(text: str) -> str:
    """Leave out a word that may go on: half a credential is not known as one."""
    end = max(text.rfind(" "), text.rfind("\n"))
    return text[: end + 1]


def _is_at_least(level: LogLevel, least: LogLevel) -> bool:
    return _LEVELS.index(level) >= _LEVELS.index(least)
