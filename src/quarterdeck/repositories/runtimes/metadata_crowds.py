"""Fields that are asked at the same moment, and share processes when they are too many."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import anyio

from quarterdeck.clients.taskfile.reading import TaskField
from quarterdeck.clients.taskfile.running import Finished, TooMuchOutput
from quarterdeck.clients.taskfile.together import Job, run_together
from quarterdeck.repositories.runtimes.metadata_fields import MetadataField, Place, overdue, told

# All that one list of agents asks comes within this of each other.
GATHER_SECONDS = 0.03
MOST_ROUNDS = 10
MOST_TOGETHER = 75
PROCESSES = 8


@dataclass(frozen=True, eq=False)
class Waiting:
    """A field whose answer somebody awaits; `None` sends it to a process of its own."""

    field: TaskField
    place: Place
    answer: "asyncio.Future[MetadataField | None]"

    def settle(self, answer: MetadataField | None) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class Crowd:
    """Brings fields together that are asked at once, if they are more than `enough`."""

    def __init__(self, *, enough: int, kill_seconds: float) -> None:
        self._enough = enough
        self._kill_seconds = kill_seconds
        self._slots = anyio.Semaphore(PROCESSES)
        self._waiting: list[Waiting] = []
        self._working: set[asyncio.Task[None]] = set()

    async def ask(self, field: TaskField, place: Place) -> MetadataField | None:
        """Return the field, or `None` when it should have a process of its own."""
        if not _can_share(field, place):
            return None
        waiting = Waiting(field, place, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if len(self._waiting) == 1:
            work = asyncio.create_task(self._serve())
            self._working.add(work)
            work.add_done_callback(self._working.discard)
        return await waiting.answer

    async def close(self) -> None:
        working = list(self._working)
        for work in working:
            work.cancel()
        await asyncio.gather(*working, return_exceptions=True)

    async def _serve(self) -> None:
        crowd = await self._gathered()
        if len(crowd) <= self._enough:
            for waiting in crowd:
                waiting.settle(None)
            return
        async with anyio.create_task_group() as tasks:
            for batch in _batches(crowd):
                tasks.start_soon(self._ask_together, batch)

    async def _gathered(self) -> Sequence[Waiting]:
        seen = 0
        for _ in range(MOST_ROUNDS):
            if seen == len(self._waiting):
                break
            seen = len(self._waiting)
            await anyio.sleep(GATHER_SECONDS)
        crowd, self._waiting = self._waiting, []
        return crowd

    async def _ask_together(self, batch: Sequence[Waiting]) -> None:
        late = False
        try:
            async with self._slots:
                with anyio.move_on_after(self._kill_seconds) as scope:
                    await _run(batch)
                late = scope.cancelled_caught
        except (OSError, ValueError, TooMuchOutput):
            pass  # the others did nothing wrong, and are asked by themselves
        finally:
            for waiting in batch:
                waiting.settle(overdue(waiting.field, self._kill_seconds) if late else None)


async def _run(batch: Sequence[Waiting]) -> None:
    def tell(number: int, output: bytes | None) -> None:
        # One that failed is asked again by itself, to hear what is wrong.
        field = batch[number].field
        answer = None if output is None else told(field, Finished(0, output, b""))
        batch[number].settle(answer)

    task, env = batch[0].place.task, batch[0].place.env
    assert task is not None
    jobs = [Job(waiting.field.command or "", waiting.place.workspace) for waiting in batch]
    await run_together(jobs, task=task, env=env, tell=tell)


def _can_share(field: TaskField, place: Place) -> bool:
    if not field.command or field.problem or place.task is None:
        return False
    # `task` reads the path as a template, and makes a folder that is not there.
    return "{{" not in str(place.workspace) and place.workspace.is_dir()


def _batches(crowd: Sequence[Waiting]) -> Iterator[Sequence[Waiting]]:
    """Yield fields with the same environment, so many at a time."""
    alike: dict[object, list[Waiting]] = {}
    for waiting in crowd:
        alike.setdefault(frozenset(waiting.place.env.items()), []).append(waiting)
    for fields in alike.values():
        for start in range(0, len(fields), MOST_TOGETHER):
            yield fields[start : start + MOST_TOGETHER]
