"""Writes agents' logs as events arrive: whatever waits goes into one transaction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from quarterdeck.domain.agent_log import MESSAGE_LENGTH, LogEntry, LogKind, LogLevel, LogRole
from quarterdeck.errors import Unavailable
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.fleet import AgentLogRepository, LogSpan
from quarterdeck.ports.log_archive import LogArchive
from quarterdeck.ports.store import Store, Transaction

logger = logging.getLogger(__name__)

# An agent that says more than this before the disk has taken it waits for the disk.
MOST_WAITING = 4 * 1024 * 1024
RETRY_SECONDS = 1.0
# How much of a full log goes to a file at a time.
OVERFLOW_PART = 0.25


@dataclass(frozen=True, slots=True)
class LogLimits:
    """How much of one agent's log stays in the database."""

    entries: int
    size: int


@dataclass(frozen=True, slots=True)
class Voice:
    """Who says what kind of thing; text that goes on in the same voice is one message."""

    level: LogLevel
    role: LogRole
    kind: LogKind
    task_id: str | None = None
    message_id: str | None = None


@dataclass(slots=True)
class _Log:
    """One agent's log, as far as the writer needs to know it."""

    next_seq: int
    first: int
    size: int
    # New entries, and text for the last entry that was written before them.
    fresh: list[LogEntry] = field(default_factory=list[LogEntry])
    more: str = ""
    more_for: int = 0
    voice: Voice | None = None
    last_length: int = 0
    waiting: int = 0
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is written in one go; more may be said meanwhile."""

    agent_id: str
    log: _Log
    fresh: list[LogEntry]
    more: str
    more_for: int
    waiting: int
    size: int

    @staticmethod
    def of(agent_id: str, log: _Log) -> "_Taken":
        fresh, more = log.fresh, log.more
        log.fresh, log.more = [], ""
        size = len(more) + sum(len(entry.message) for entry in fresh)
        return _Taken(agent_id, log, fresh, more, log.more_for, log.waiting, size)


class LogWriter:
    """The only writer of the logs of this process's agents."""

    def __init__(
        self,
        store: Store,
        rows: AgentLogRepository,
        archive: LogArchive,
        clock: Clock,
        limits: LogLimits,
    ) -> None:
        """What passes `limits` moves to `archive`."""
        self._store = store
        self._rows = rows
        self._archive = archive
        self._clock = clock
        self._limits = limits
        self._logs: dict[str, _Log] = {}
        self._work = asyncio.Event()
        self._written = asyncio.Condition()
        self.on_written: Callable[[], None] = lambda: None

    async def add(self, agent_id: str, voice: Voice, message: str) -> None:
        """Add an entry of its own."""
        log = await self._log(agent_id)
        log.voice = None
        await self._say(agent_id, log, voice, message)
        log.voice = None

    async def say(self, agent_id: str, voice: Voice, text: str) -> None:
        """Add text to the last message if it is of the same voice; else begin the next."""
        log = await self._log(agent_id)
        await self._say(agent_id, log, voice, text)

    async def flush(self, agent_id: str) -> None:
        """Wait until all that an agent said so far is durable."""
        log = self._logs.get(agent_id)
        if log is not None:
            async with self._written:
                await self._written.wait_for(lambda: not log.waiting)

    def forget(self, agent_id: str) -> None:
        """Let go of an agent's log, once all of it is written."""
        log = self._logs.get(agent_id)
        if log is not None:
            log.is_over = True
            self._drop_if_done(agent_id, log)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._work.wait()
            self._work.clear()
            await self._write_waiting()

    async def _say(self, agent_id: str, log: _Log, voice: Voice, text: str) -> None:
        if log.voice == voice:
            room = MESSAGE_LENGTH - log.last_length
            self._extend(log, text[:room])
            text = text[room:]
        while text or log.voice != voice:
            self._begin(agent_id, log, voice, text[:MESSAGE_LENGTH])
            text = text[MESSAGE_LENGTH:]
        self._work.set()
        if log.waiting > MOST_WAITING:
            async with self._written:
                await self._written.wait_for(lambda: log.waiting <= MOST_WAITING)

    def _begin(self, agent_id: str, log: _Log, voice: Voice, text: str) -> None:
        entry = LogEntry(
            agent_id=agent_id,
            seq=log.next_seq,
            at=self._clock.now(),
            level=voice.level,
            role=voice.role,
            kind=voice.kind,
            message=_storable(text),
            task_id=voice.task_id,
        )
        log.fresh.append(entry)
        log.next_seq += 1
        log.voice, log.last_length = voice, len(text)
        # An empty message is something to write, too.
        log.waiting += len(text) + 1

    def _extend(self, log: _Log, text: str) -> None:
        if not text:
            return
        if log.fresh:
            last = log.fresh[-1]
            log.fresh[-1] = replace(last, message=last.message + _storable(text))
        else:
            log.more += _storable(text)
            log.more_for = log.next_seq - 1
        log.last_length += len(text)
        log.waiting += len(text)

    async def _log(self, agent_id: str) -> _Log:
        log = self._logs.get(agent_id)
        if log is None:
            span = await self._span(agent_id)
            # Somebody else may have asked meanwhile; there must be one.
            fresh = _Log(next_seq=span.last + 1, first=span.first or 1, size=span.size)
            log = self._logs.setdefault(agent_id, fresh)
        return log

    async def _span(self, agent_id: str) -> LogSpan:
        while True:
            try:
                return await self._store.read(lambda tx: self._rows.span(tx, agent_id))
            except Unavailable as error:
                _report(error)
                await asyncio.sleep(RETRY_SECONDS)

    async def _write_waiting(self) -> None:
        taken = [_Taken.of(agent_id, log) for agent_id, log in self._logs.items() if log.waiting]
        if not taken:
            return
        await self._written_for_sure(taken)
        for part in taken:
            part.log.waiting -= part.waiting
            part.log.size += part.size
            self._drop_if_done(part.agent_id, part.log)
        async with self._written:
            self._written.notify_all()
        self.on_written()
        for part in taken:
            await self._overflow(part.agent_id, part.log)

    def _drop_if_done(self, agent_id: str, log: _Log) -> None:
        if log.is_over and not log.waiting:
            self._logs.pop(agent_id, None)

    async def _written_for_sure(self, taken: Sequence[_Taken]) -> None:
        while True:
            try:
                await self._store.write(partial(self._write, taken))
            except Unavailable as error:
                # A full disk, perhaps: agents wait meanwhile, and nothing they said is lost.
                _report(error)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return

    def _write(self, taken: Sequence[_Taken], tx: Transaction) -> None:
        for part in taken:
            if part.more:
                self._rows.extend(tx, part.agent_id, part.more_for, part.more)
            for entry in part.fresh:
                self._rows.add(tx, entry)

    async def _overflow(self, agent_id: str, log: _Log) -> None:
        """Move the oldest entries of a log that has grown too long to a file."""
        kept = log.next_seq - log.first
        if kept <= self._limits.entries and log.size <= self._limits.size:
            return
        count = max(1, int(min(kept, self._limits.entries) * OVERFLOW_PART))
        last = min(log.first + count, log.next_seq - 1) - 1
        if last < log.first:
            return  # one entry is all there is
        first = log.first
        try:
            old = await self._store.read(lambda tx: self._rows.entries(tx, agent_id, first, last))
            await asyncio.to_thread(self._archive.put, agent_id, list(reversed(old)))
            await self._store.write(lambda tx: self._rows.remove(tx, agent_id, last))
        except (OSError, Unavailable):
            logger.exception("Cannot move old entries of a log to a file; they stay")
            return
        log.first = last + 1
        log.size -= sum(len(entry.message) for entry in old)


def _report(error: Unavailable) -> None:
    logger.error("Cannot get at agents' logs, trying again: %s", error.details)


def _storable(text: str) -> str:
    """Return text that both databases can keep."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
