"""The composition root: the one place that picks implementations."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import anyio

from quarterdeck.domain.guard import read_only, within_scopes
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.redaction import Redactor
from quarterdeck.errors import Unavailable
from quarterdeck.homes import prepare_home
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.meter import Meter, NoMeter
from quarterdeck.services.agent_logs import AgentLogService
from quarterdeck.services.agent_programs import AgentProgramService
from quarterdeck.services.agents import AgentService
from quarterdeck.services.archives import ArchiveService
from quarterdeck.services.calls import Calls
from quarterdeck.services.cleaning import CleaningService
from quarterdeck.services.crew.badges import Badges
from quarterdeck.services.crew.changes import Changes
from quarterdeck.services.crew.crew import Crew, CrewParts
from quarterdeck.services.crew.desk import QuestionDesk
from quarterdeck.services.crew.log_writer import LogLimits, LogWriter
from quarterdeck.services.crew.records import TaskRecords
from quarterdeck.services.crew.rows import FleetRows
from quarterdeck.services.daemons import DaemonService
from quarterdeck.services.diffs import DiffService
from quarterdeck.services.elsewhere import Elsewhere
from quarterdeck.services.fleet import Fleet, Whereabouts
from quarterdeck.services.fleet_services import FleetServices, handlers_of
from quarterdeck.services.log_following import LogFollowingService
from quarterdeck.services.memory import MemoryService
from quarterdeck.services.operation import Operations
from quarterdeck.services.projects import ProjectService, Seeds
from quarterdeck.services.questions import QuestionService
from quarterdeck.services.recorder import Recorder
from quarterdeck.services.recovery import Recovery
from quarterdeck.services.spending import SpendingService
from quarterdeck.services.tasks import TaskService
from quarterdeck.services.tokens import TokenService
from quarterdeck.services.traces import TraceService
from quarterdeck.services.waiting import WaitService
from quarterdeck.settings import Settings
from quarterdeck.telemetry import spans_to

if TYPE_CHECKING:
    from quarterdeck.ports.agent_programs import AgentPrograms
    from quarterdeck.ports.archives import Archives
    from quarterdeck.ports.database import Database
    from quarterdeck.ports.repositories import MemoryRepository
    from quarterdeck.ports.store import Store

logger = logging.getLogger(__name__)

PRUNE_EVERY_SECONDS = 300
# A daemon is taken for gone when none of so many beats of its heart has come.
BEATS = 6


class SystemClock:
    """Implements `Clock` with the machine's own."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        return datetime.now(UTC)

    def ticks_us(self) -> int:
        """Return microseconds that never run backwards."""
        return time.perf_counter_ns() // 1000


@dataclass(frozen=True)
class Quarterdeck:
    """The running product, as surfaces get it."""

    settings: Settings
    calls: Calls
    memory: MemoryService
    traces: TraceService
    tokens: TokenService
    daemons: DaemonService
    archives: ArchiveService
    projects: ProjectService
    fleet: FleetServices
    crew: Crew
    badges: Badges
    recovery: Recovery
    elsewhere: Elsewhere
    agent_programs: AgentProgramService
    redactor: Redactor

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Be one of the node's processes: recover what died ones left, run agents, prune."""
        async with self.manned(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_pruning)
            if self.settings.database.url is not None:
                tasks.start_soon(self._keep_beating)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def manned(self) -> AsyncGenerator[None]:
        """Run agents, those of dead processes of this node included."""
        await self.daemons.start()
        try:
            await self.crew.open()
            await self.recovery.run()
            self.crew.spawn(self.elsewhere.serve())
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.crew.close()
                await self.daemons.stop()

    async def _keep_beating(self) -> None:
        pause = self.settings.fleet.lost_seconds / BEATS
        while True:
            await anyio.sleep(pause)
            try:
                await self.daemons.beat()
            except Unavailable:
                logger.warning("Cannot say that this daemon is alive", exc_info=True)

    async def _keep_pruning(self) -> None:
        limits = self.settings.trace
        while True:
            try:
                await self.traces.prune(
                    retention_days=limits.retention_days, max_traces=limits.max_traces
                )
            except Exception:
                # What goes wrong here must not end the server that it runs beside.
                logger.exception("Could not prune traces; trying again later")
            await self._clean()
            await anyio.sleep(PRUNE_EVERY_SECONDS)

    async def _clean(self) -> None:
        try:
            await self.fleet.cleaning.run()
        except Exception:
            # As above: the server goes on.
            logger.exception("Could not clean up after deleted agents; trying again later")


@asynccontextmanager
async def open_quarterdeck(
    settings: Settings, *, clock: Clock | None = None, meter: Meter | None = None
) -> AsyncGenerator[Quarterdeck]:
    """Open the database of `settings` and build everything on it; `meter` is told of its calls."""
    clock, meter = clock or SystemClock(), meter or NoMeter()
    store, memory = await asyncio.to_thread(_open_store, settings)
    try:
        deck = _build(settings, store, memory, clock, meter)
        await deck.projects.seed()
        yield deck
    finally:
        with anyio.CancelScope(shield=True):
            await store.close()


def _open_store(settings: Settings) -> "tuple[Store, MemoryRepository]":
    # Imported here: SQLAlchemy takes longer to import than `quarterdeck --help` may take.
    from quarterdeck.repositories.sql import migrate
    from quarterdeck.repositories.sql.memory import SqlMemoryRepository
    from quarterdeck.repositories.sql.memory_index import (
        POSTGRES_SPELLING,
        SQLITE_SPELLING,
        MemoryIndex,
    )

    prepare_home(settings)
    if settings.database.url is None:
        from quarterdeck.repositories.sql.sqlite import SqliteStore

        migrate.prepare_sqlite(settings.database_path)
        sqlite = SqliteStore(settings.database_path, durability=settings.database.durability)
        return sqlite, SqlMemoryRepository(MemoryIndex(SQLITE_SPELLING))
    from quarterdeck.repositories.sql.postgres import PostgresStore

    url = settings.database.url.get_secret_value()
    migrate.check_postgres(url)
    postgres = PostgresStore(url, pool_size=settings.database.pool_size)
    return postgres, SqlMemoryRepository(MemoryIndex(POSTGRES_SPELLING))


def _build(
    settings: Settings, store: "Store", memory: "MemoryRepository", clock: Clock, meter: Meter
) -> Quarterdeck:
    from quarterdeck.repositories.demo import demo_project
    from quarterdeck.repositories.presence import FilePresence
    from quarterdeck.repositories.sql.agents import SqlAgentRepository
    from quarterdeck.repositories.sql.commands import SqlCommandRepository
    from quarterdeck.repositories.sql.daemons import SqlDaemonRepository
    from quarterdeck.repositories.sql.projects import SqlProjectRepository, SqlRoleRepository
    from quarterdeck.repositories.sql.tokens import SqlTokenRepository
    from quarterdeck.repositories.sql.traces import SqlTraceRepository

    daemon_id, redactor = new_id(clock.now()), Redactor(settings.secrets())
    trace_rows = SqlTraceRepository()
    recorder = Recorder(trace_rows, redactor, clock, daemon_id)
    operations = Operations(
        store=store,
        recorder=recorder,
        clock=clock,
        rules=(within_scopes, read_only) if settings.server.read_only else (within_scopes,),
        span=spans_to(settings.telemetry.otlp_endpoint),
        meter=meter,
    )
    traces = TraceService(operations, trace_rows)
    presence = FilePresence(settings.home)
    seeds = Seeds(presence.node_id, settings.projects, settings.roles, demo_project(settings.home))
    projects = ProjectService(
        operations, SqlProjectRepository(), SqlRoleRepository(), seeds, SqlAgentRepository()
    )
    calls, daemons = Calls(store, recorder, clock, meter), SqlDaemonRepository()
    tokens = SqlTokenRepository()
    lost_after = timedelta(seconds=settings.fleet.lost_seconds)
    here = Whereabouts(daemon_id, presence, daemons, lost_after)
    badges = Badges(store, tokens, clock)
    fleet = _fleet(settings, operations, projects, here, badges, redactor)
    elsewhere = Elsewhere(fleet.fleet, SqlCommandRepository(), calls)
    services = _fleet_services(settings, fleet, elsewhere, redactor)
    return Quarterdeck(
        settings=settings,
        calls=calls,
        memory=MemoryService(operations, memory),
        traces=traces,
        tokens=TokenService(operations, tokens),
        daemons=DaemonService(
            operations, daemons, traces, presence, daemon_id, socket.gethostname()
        ),
        archives=ArchiveService(operations, lambda: _archives(settings, clock), trace_rows),
        projects=projects,
        fleet=services,
        crew=fleet.fleet.crew,
        badges=badges,
        recovery=Recovery(fleet.fleet, services.agents),
        elsewhere=elsewhere,
        agent_programs=AgentProgramService(operations, find_agent_programs(settings)),
        redactor=redactor,
    )


class _Manned(NamedTuple):
    """The fleet, where its questions wait, and what tells that an agent said something."""

    fleet: Fleet
    desk: QuestionDesk
    heard: Changes


def _fleet(
    settings: Settings,
    operations: Operations,
    projects: ProjectService,
    here: Whereabouts,
    badges: Badges,
    redactor: Redactor,
) -> _Manned:
    from quarterdeck.repositories.agent_log_files import AgentLogFiles
    from quarterdeck.repositories.agent_programs import resolve_command
    from quarterdeck.repositories.runtimes.local import LocalRuntime, Owner
    from quarterdeck.repositories.runtimes.patience import Patience
    from quarterdeck.repositories.sql.agent_log import SqlAgentLogRepository
    from quarterdeck.repositories.sql.agents import SqlAgentRepository
    from quarterdeck.repositories.sql.questions import SqlQuestionRepository
    from quarterdeck.repositories.sql.tasks import SqlTaskRepository

    store, clock = operations.store, operations.clock
    rows = FleetRows(
        SqlAgentRepository(), SqlTaskRepository(), SqlAgentLogRepository(), SqlQuestionRepository()
    )
    limits = LogLimits(entries=settings.fleet.log_entries, size=settings.fleet.log_bytes)
    log = LogWriter(store, rows.log, AgentLogFiles(settings.home), clock, limits)
    changes, heard = Changes(), Changes()
    log.on_written = heard.tell
    desk = QuestionDesk(store, rows.questions, clock, log, changes, here.daemon_id)
    local = LocalRuntime(
        settings.home,
        owner=Owner(here.node_id, here.daemon_id, here.presence.is_alive),
        environment=os.environ,
        command_of=lambda role: resolve_command(role, settings.home),
        patience=Patience(handshake_seconds=settings.fleet.handshake_seconds),
    )
    runtimes = {local.kind: local}
    records = TaskRecords(rows, clock, redactor)
    parts = CrewParts(store, clock, rows, log, desk, changes, records, runtimes, badges)
    crew = Crew(parts, first_pause=settings.fleet.restart_seconds)
    return _Manned(Fleet(operations, rows, crew, projects, runtimes, here), desk, heard)


def _fleet_services(
    settings: Settings, manned: _Manned, elsewhere: Elsewhere, redactor: Redactor
) -> FleetServices:
    from quarterdeck.repositories.housekeeping import HomeHousekeeping

    fleet, desk, heard = manned
    questions = QuestionService(fleet, elsewhere, desk)
    retention = timedelta(days=settings.fleet.retention_days)
    services = FleetServices(
        projects=fleet.projects,
        agents=AgentService(fleet, elsewhere),
        tasks=TaskService(fleet, elsewhere),
        logs=AgentLogService(fleet, redactor),
        following=LogFollowingService(fleet, redactor, heard),
        questions=questions,
        waiting=WaitService(fleet, questions, asks_clients=settings.fleet.ask_clients),
        diffs=DiffService(fleet, elsewhere, redactor),
        spending=SpendingService(fleet),
        cleaning=CleaningService(
            fleet, elsewhere.commands, HomeHousekeeping(settings.home), retention
        ),
    )
    elsewhere.handlers = handlers_of(services)
    return services


def _archives(settings: Settings, clock: Clock) -> "Archives":
    from quarterdeck.repositories.archives import HomeArchives
    from quarterdeck.repositories.sql.postgres_copies import PostgresCopies
    from quarterdeck.repositories.sql.sqlite_copies import SqliteCopies

    if settings.database.url is None:
        return HomeArchives(settings.home, SqliteCopies(settings.database_path), clock)
    url = settings.database.url.get_secret_value()
    return HomeArchives(settings.home, PostgresCopies(url), clock)


def open_database(settings: Settings) -> "Database":
    """Return the database of `settings` for those who keep it; nothing is opened or created."""
    from quarterdeck.repositories.sql.administration import PostgresDatabase, SqliteDatabase

    if settings.database.url is None:
        return SqliteDatabase(settings.database_path)
    shown = {setting.key: setting.value for setting in settings.shown()}
    url = settings.database.url.get_secret_value()
    return PostgresDatabase(url, place=str(shown["database.url"]))


def find_agent_programs(settings: Settings) -> "AgentPrograms":
    """Return the programs of agents on this machine; nothing is opened or created."""
    from quarterdeck.repositories.agent_programs import HomeAgentPrograms

    return HomeAgentPrograms(settings.home)
