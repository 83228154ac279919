"""Archives: back up the whole state while it is in use, and put it back."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from threading import Event
from typing import TypeVar

from quarterdeck.domain.archive import BackupResponse, RestorePlan, RestoreResponse
from quarterdeck.domain.effect import Effect
from quarterdeck.ports.archives import Archives, CheckedArchive, Progress
from quarterdeck.ports.repositories import TraceRepository
from quarterdeck.ports.store import Transaction
from quarterdeck.services.operation import Operation, Operations, operation

T = TypeVar("T")
Confirm = Callable[[RestorePlan], bool]
Paused = Callable[[], AbstractAsyncContextManager[None]]


class Stopped(Exception):
    """Ends the work of a thread whose caller has gone away."""


class ArchiveService:
    """Backups of this home and its database."""

    def __init__(
        self,
        operations: Operations,
        archives: Callable[[], Archives],
        traces: TraceRepository,
    ) -> None:
        """`archives` is asked for when it is needed, which in most processes is never."""
        self.operations = operations
        self._archives = archives
        self._traces = traces

    @operation("archive.backup", Effect.READ)
    async def backup(
        self, op: Operation, target: Path | None, progress: Progress, *, with_secrets: bool = False
    ) -> BackupResponse:
        """Write an archive; without a `target`, among the home's backups."""
        return await _in_thread(
            lambda tell: self._archives().write(target, tell, with_secrets=with_secrets), progress
        )

    @operation("archive.restore", Effect.DESTROY)
    async def restore(
        self,
        op: Operation,
        file: Path,
        progress: Progress,
        *,
        confirm: Confirm,
        paused: Paused,
        database_only: bool = False,
    ) -> RestoreResponse:
        """Replace the state by that of an archive, once `confirm` has seen what that means.

        `paused` keeps the home's own server from writing meanwhile.
        """
        checked = await _in_thread(lambda tell: self._archives().check(file, tell), progress)
        try:
            plan = await asyncio.to_thread(checked.plan, database_only=database_only)
            if not confirm(plan):
                return RestoreResponse(restored=False, plan=plan)
            async with paused():
                saved = await self._replace(checked, progress, database_only=database_only)
            return RestoreResponse(restored=True, plan=plan, saved_as=str(saved))
        finally:
            await asyncio.to_thread(checked.discard)

    async def _replace(
        self, checked: CheckedArchive, progress: Progress, *, database_only: bool
    ) -> Path:
        return await _in_thread(
            lambda tell: checked.restore(self._close, tell, database_only=database_only), progress
        )

    def _close(self, tx: Transaction, daemon_id: str) -> None:
        for trace in self._traces.open_of(tx, daemon_id):
            self.operations.recorder.write_interruption(tx, trace)


async def _in_thread(work: Callable[[Progress], T], progress: Progress) -> T:
    """Run `work` beside the event loop; when the caller is cancelled, end it and wait for that."""
    stopped = Event()

    def tell(what: str, done: int, total: int) -> None:
        if stopped.is_set():
            raise Stopped
        progress(what, done, total)

    running = asyncio.ensure_future(asyncio.to_thread(work, tell))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([running])
        if running.exception() is None:
            return running.result()  # it was done before it could be stopped
        raise
