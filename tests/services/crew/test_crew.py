"""What comes just before or just after something else: nobody is taken for what they are not."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from quarterdeck.domain.agents import AgentStatus
from quarterdeck.domain.tasks import TaskState
from quarterdeck.domain.workspaces import Diff
from quarterdeck.errors import AgentFailed
from quarterdeck.ports.runtime import AgentSpec, Berth, Report, RuntimeListener, Started
from quarterdeck.repositories.sql.sqlite import SqliteStore
from quarterdeck.testing.fake_runtime import FakeRuntime
from tests.support.crews import CrewSite


class Fading(FakeRuntime):
    """Its agents end by themselves while their work is being looked at, but once."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: set[str] = set()
        self._told: RuntimeListener | None = None

    async def open(self, listener: RuntimeListener) -> None:
        self._told = listener
        await super().open(listener)

    async def diff(self, berth: Berth) -> Diff:
        if berth.agent_id not in self.ended:
            self.ended.add(berth.agent_id)
            await self.stop(berth.agent_id)
            assert self._told is not None
            await self._told.gone(berth.agent_id, "its process was ended by SIGKILL")
        return await super().diff(berth)


class Reluctant(FakeRuntime):
    """It starts an agent again only when it is asked for the third time."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    async def restart(self, spec: AgentSpec, report: Report) -> Started:
        self.refused += 1
        if self.refused <= 2:
            raise AgentFailed(spec.name, "no answer to the handshake")
        return await super().restart(spec, report)


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    with anyio.fail_after(20):
        while not await condition():  # noqa: ASYNC110 - the database has no event for it
            await anyio.sleep(0.01)


async def test_a_cancel_before_a_task_has_begun_cancels_it_and_no_other(
    store: SqliteStore, tmp_path: Path
) -> None:
    site = CrewSite(store, tmp_path)
    spec, task = await site.new_agent("sony", "/hang")
    async with site.crew() as crew:
        crew.launch(spec, site.runtime, is_new=True)
        assert await crew.interrupt(spec.agent_id, task.id)

        async def is_over() -> bool:
            return (await site.task(task.id)).ended_at is not None

        await until(is_over)
        assert (await site.task(task.id)).state is TaskState.CANCELED
        assert await crew.interrupt(spec.agent_id, task.id), "it has stopped long ago"


async def test_an_agent_that_ends_while_its_work_is_recorded_comes_back(
    store: SqliteStore, tmp_path: Path
) -> None:
    site = CrewSite(store, tmp_path, Fading())
    spec, task = await site.new_agent("sony", "/say done")
    async with site.crew() as crew:
        crew.launch(spec, site.runtime, is_new=True)

        async def is_back() -> bool:
            is_idle = await site.status(spec.agent_id) is AgentStatus.IDLE
            return is_idle and site.runtime.is_running(spec.agent_id)

        await until(is_back)
        assert (await site.task(task.id)).state is TaskState.DONE


async def test_a_start_that_fails_on_the_way_back_is_tried_again(
    store: SqliteStore, tmp_path: Path
) -> None:
    runtime = Reluctant()
    site = CrewSite(store, tmp_path, runtime)
    spec, _ = await site.new_agent("sony", "/crash 3")
    async with site.crew() as crew:
        crew.launch(spec, runtime, is_new=True)

        async def is_back() -> bool:
            return await site.status(spec.agent_id) is AgentStatus.IDLE

        await until(is_back)
    assert runtime.refused == 3


async def test_agents_that_are_stopped_with_the_crew_are_interrupted(
    store: SqliteStore, tmp_path: Path
) -> None:
    site = CrewSite(store, tmp_path)
    spec, task = await site.new_agent("sony", "/hang")
    async with site.crew() as crew:
        crew.launch(spec, site.runtime, is_new=True)

        async def is_at_work() -> bool:
            return await site.status(spec.agent_id) is AgentStatus.BUSY

        await until(is_at_work)
    assert (await site.task(task.id)).state in {TaskState.INTERRUPTED, TaskState.QUEUED}
    assert await site.status(spec.agent_id) is AgentStatus.STOPPED
