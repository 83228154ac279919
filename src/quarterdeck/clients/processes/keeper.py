"""The daemon's side of the keeper: agent processes that do not outlive the daemon."""

import asyncio
import os
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from quarterdeck.clients.processes.child import CannotStart, Child
from quarterdeck.clients.processes.leftovers import (
    Record,
    end_marked,
    mark_for,
    remove_record,
    write_record,
)
from quarterdeck.clients.processes.life import Life, NotStarted, Start
from quarterdeck.clients.processes.link import Event, Link
from quarterdeck.clients.processes.spawning import explained
from quarterdeck.clients.processes.stdio import open_stdio
from quarterdeck.clients.processes.table import MARK, boot_id

LOG = "keeper.log"


class Keeper:
    """Starts agent processes through a keeper process, which is started when there is none.

    Args:
        folder: keeps a record of each process while it runs, for `leftovers.sweep`.
        node: whose processes they are; no other daemon that is alive may use it.
    """

    def __init__(self, folder: Path, *, node: str) -> None:
        self._folder = folder
        self._node = node
        self._boot = boot_id()
        self._link: Link | None = None
        self._linking = asyncio.Lock()
        self._lives: dict[str, Life] = {}
        self._children: dict[str, Child] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def pid(self) -> int | None:
        """The keeper process; None before anything was started."""
        return self._link.pid if self._link else None

    async def spawn(
        self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], stderr: Path
    ) -> Child:
        """Start a program with this environment and a mark, and nothing else.

        Its stderr is appended to a file, so that nobody has to read it.

        Raises:
            CannotStart: it is not there, cannot be run, or there is no such folder.
        """
        starting = asyncio.create_task(self._spawn(command, cwd, env, stderr))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._do(_give_up(starting))
            raise

    async def close(self) -> None:
        """End everything; nothing that was started here is left afterwards."""
        async with self._linking:  # a keeper that is being started is waited for
            self._is_closed = True
        if self._link:
            self._link.let_go()
        while self._tasks:
            await asyncio.wait(self._tasks)
        for child in list(self._children.values()):
            await child.end(grace=0)

    async def _spawn(
        self, command: Sequence[str], cwd: Path, env: Mapping[str, str], stderr: Path
    ) -> Child:
        if not command:
            raise CannotStart(command, "the command is empty")
        try:
            stdio, files = await open_stdio(stderr)
        except OSError as error:
            raise CannotStart(command, explained(error)) from error
        life = self._new_life()
        request = {"command": list(command), "cwd": str(cwd), "env": {**env, MARK: life.mark}}
        try:
            start = await self._start(life, request, files)
            self._record(life, start)
        except (NotStarted, OSError) as error:
            await self._end(life, grace=0)
            await stdio.close()
            reason = explained(error) if isinstance(error, OSError) else str(error)
            raise CannotStart(command, reason) from error
        child = Child(life, start, stdio, end=self._end)
        self._children[life.process_id] = child
        return child

    def _new_life(self) -> Life:
        process_id = uuid.uuid4().hex
        life = Life(process_id, mark_for(self._node, process_id))
        self._lives[process_id] = life
        return life

    async def _start(
        self, life: Life, request: Mapping[str, object], files: Sequence[int]
    ) -> Start:
        try:
            life.link = await self._linked()
            await life.link.send({"do": "spawn", "id": life.process_id, **request}, files)
        except ConnectionError as error:
            raise NotStarted("its keeper ended") from error
        finally:
            for file in files:
                os.close(file)
        told = await life.started
        if isinstance(told, NotStarted):
            raise told
        return told

    async def _linked(self) -> Link:
        async with self._linking:
            if self._is_closed:
                raise NotStarted("everything is being ended")
            if self._link is None or not self._link.is_open:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._link = await Link.open(self._folder / LOG)
                self._do(self._listen(self._link))
            return self._link

    async def _listen(self, link: Link) -> None:
        exit_code = await link.listen(self._note)
        lost = [life for life in self._lives.values() if life.link is link]
        try:
            if exit_code != 0 and lost:
                await asyncio.to_thread(self._end_lost, lost)
        finally:
            for life in lost:
                life.note_lost_keeper()

    def _end_lost(self, lives: Sequence[Life]) -> None:
        """End what a keeper left that was killed: on Linux, what its agents had started."""
        marks = {life.mark for life in lives}
        end_marked(marks.__contains__, [life.record for life in lives if life.record])

    def _note(self, event: Event) -> None:
        if life := self._lives.get(event["id"]):
            life.note(event)

    def _record(self, life: Life, start: Start) -> None:
        life.record = Record(life.mark, start.pid, start.started, self._boot)
        write_record(self._folder, life.process_id, life.record)

    async def _end(self, life: Life, grace: float) -> None:
        if life.link and not life.gone.done():
            # Without a keeper, whoever listened to it ends what it left.
            with suppress(ConnectionError):
                await life.link.send({"do": "end", "id": life.process_id, "grace": grace})
            await asyncio.shield(life.gone)
        self._lives.pop(life.process_id, None)
        self._children.pop(life.process_id, None)
        remove_record(self._folder, life.process_id)

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _give_up(starting: "asyncio.Task[Child]") -> None:
    with suppress(CannotStart):
        child = await starting
        await child.end(grace=0)
