"""The metadata of workspaces: asked side by side, answered in time, and remembered briefly."""

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from quarterdeck.clients.taskfile.binary import find_task
from quarterdeck.clients.taskfile.reading import NO_DESCRIPTION, TaskField, read_fields
from quarterdeck.repositories.runtimes.metadata_crowds import Crowd
from quarterdeck.repositories.runtimes.metadata_fields import MetadataField, Place, ask, failed

DEFAULT_TASKFILE = "Taskfile.yml"
MOST_BYTES = 1024 * 1024
# A process of `task` computes for some 50 ms before its command begins. More of them at once end
# no sooner, and keep this process from its own work.
AT_ONCE = 8 * (os.cpu_count() or 2)
# So that one workspace full of fields that hang does not keep the others waiting.
AT_ONCE_IN_ONE = 8
# When nobody has been able to start a field for this long, nobody waits for it any more.
RUN_SECONDS = 30.0

Metadata = Mapping[str, MetadataField]


@dataclass
class Run:
    """One round of asking an agent's fields, shared by all who wait for it."""

    fields: Sequence[TaskField] = ()
    told: dict[str, MetadataField] = field(default_factory=dict[str, MetadataField])
    is_done: anyio.Event = field(default_factory=anyio.Event)
    fresh_until: float = 0.0
    work: "asyncio.Task[None] | None" = None

    def answer(self) -> Metadata:
        """Return every field in the file's order, the missing ones as late, within the limit."""
        answer: dict[str, MetadataField] = {}
        size = 0
        for item in self.fields:
            told = self.told.get(item.name) or failed(item, "Not ready in time, ask again")
            size += _size(item.name, told)
            answer[item.name] = told if size <= MOST_BYTES else _beyond(item)
        return answer


class MetadataCollector:
    """Asks the fields of workspaces' Taskfiles: each a process of its own, or in a crowd.

    An answer comes within `answer_seconds`. What is late may go on, up to `kill_seconds` from its
    start, and is then in the answers of the next `cache_seconds`.
    """

    def __init__(
        self,
        *,
        answer_seconds: float = 2.5,
        kill_seconds: float = 5.0,
        cache_seconds: float = 5.0,
        at_once: int = AT_ONCE,
    ) -> None:
        self._answer_seconds = answer_seconds
        self._kill_seconds = kill_seconds
        self._cache_seconds = cache_seconds
        self._slots = anyio.Semaphore(at_once)
        self._crowd = Crowd(enough=at_once, kill_seconds=kill_seconds)
        self._runs: dict[str, Run] = {}
        self._working: set[asyncio.Task[None]] = set()

    async def collect(
        self, key: str, workspace: Path, taskfile: Path | None, env: Mapping[str, str]
    ) -> Metadata:
        """Return the fields of agent `key`; a caller that goes away ends nothing."""
        run = self._runs.get(key)
        if run is None or self._is_stale(run):
            run = self._runs[key] = Run()
            place = Place(find_task(), taskfile or workspace / DEFAULT_TASKFILE, workspace, env)
            run.work = asyncio.create_task(self._work(run, place))
            self._working.add(run.work)
            run.work.add_done_callback(self._working.discard)
        if not run.is_done.is_set():
            with anyio.move_on_after(self._answer_seconds):
                await run.is_done.wait()
        return run.answer()

    def forget(self, key: str) -> None:
        """Drop what is known of an agent, and end what is being asked of it."""
        run = self._runs.pop(key, None)
        if run is not None and run.work is not None:
            run.work.cancel()

    async def close(self) -> None:
        """End everything that still runs; nothing is left when this returns."""
        self._runs.clear()
        working = list(self._working)
        for work in working:
            work.cancel()
        for work in working:
            with contextlib.suppress(asyncio.CancelledError):
                await work
        await self._crowd.close()

    def _is_stale(self, run: Run) -> bool:
        return run.is_done.is_set() and anyio.current_time() >= run.fresh_until

    async def _work(self, run: Run, place: Place) -> None:
        start = anyio.current_time()
        try:
            run.fields = await anyio.to_thread.run_sync(read_fields, place.taskfile)
            with anyio.move_on_after(RUN_SECONDS):
                await self._ask_all(run, place)
        finally:
            # What took long to ask is not asked again at once: half of the time stays for others.
            end = anyio.current_time()
            run.fresh_until = end + max(self._cache_seconds, end - start)
            run.is_done.set()

    async def _ask_all(self, run: Run, place: Place) -> None:
        own_slots = anyio.Semaphore(AT_ONCE_IN_ONE)

        async def tell(item: TaskField) -> None:
            told = await self._crowd.ask(item, place)
            if told is None:
                async with own_slots, self._slots:
                    told = await ask(item, place, kill_seconds=self._kill_seconds)
            run.told[item.name] = told

        async with anyio.create_task_group() as tasks:
            # A list shows these, so they go first when there is more to ask than time.
            for item in sorted(run.fields, key=lambda item: not item.include_in_list):
                tasks.start_soon(tell, item)


def _beyond(item: TaskField) -> MetadataField:
    return MetadataField(None, "More than 1 MiB of metadata", NO_DESCRIPTION, item.include_in_list)


def _size(name: str, told: MetadataField) -> int:
    value = told.value if isinstance(told.value, str) else str(told.value)
    return sum(len(text.encode()) for text in (name, told.description, value, told.error or ""))
