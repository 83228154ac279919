"""Two things at once to one agent: each ends as it would have alone, and nobody gets stuck."""

from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
import pytest

from quarterdeck.testing import Reply
from tests.support.runtimes import eventually
from tests.support.ships import Ship, Yard, faulty

pytestmark = [
    pytest.mark.timeout(120),  # real daemons and agents, on a busy machine
    pytest.mark.xdist_group("fleet-races"),
]

ROUNDS = 10


@pytest.fixture(scope="module")
async def ship(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ship]:
    yard = Yard(tmp_path_factory.mktemp("races"))
    yard.roles |= {"late": faulty("--late", "600"), "slow": faulty("--late", "2")}
    async with yard.sailing() as ship:
        yield ship


@pytest.fixture(autouse=True)
async def alone(ship: Ship) -> AsyncIterator[None]:
    """See that no test leaves an agent to the next."""
    yield
    listed = await ship.answer("list_agents", include_metadata=False)
    for agent in listed["agents"]:
        await ship.call("delete_agent", agent_name=agent["name"])
    await eventually(lambda: not ship.yard.left())


async def at_once(ship: Ship, *tools: str, name: str) -> list[Reply]:
    """Call tools for an agent at the same time; return the replies in their order."""
    replies: dict[int, Reply] = {}

    async def call(number: int, tool: str) -> None:
        replies[number] = await ship.call(tool, agent_name=name)

    async with anyio.create_task_group() as tasks:
        for number, tool in enumerate(tools):
            tasks.start_soon(call, number, tool)
    return [replies[number] for number in range(len(tools))]


async def test_a_cancel_that_meets_the_end_of_a_task_leaves_nobody_canceling(ship: Ship) -> None:
    await ship.create("sony", "/say ready")
    await ship.settled("sony")
    for _ in range(ROUNDS):
        await ship.start("sony", "/say short")
        reply = await ship.call("cancel_agent_task", agent_name="sony")
        assert not reply.is_error or reply.error["code"] == "INVALID_INPUT"
        (agent,) = await ship.settled("sony")
        assert agent["status"] == "idle"
        assert agent["task_state"] in {"done", "canceled"}


async def test_a_task_that_is_canceled_before_it_begins_never_runs(ship: Ship) -> None:
    for number in range(ROUNDS):
        await ship.create(name := f"sony-{number}", "/hang")
        while (reply := await ship.call("cancel_agent_task", agent_name=name)).is_error:
            assert reply.error["code"] == "INVALID_INPUT", "it has not come so far"
        assert reply.answer["stopped"] is True
        (agent,) = await ship.settled(name)
        assert (agent["status"], agent["task_state"]) == ("idle", "canceled")


async def test_an_agent_that_is_restarted_several_times_at_once_runs_once(ship: Ship) -> None:
    await ship.create("sony", "/say ready")
    await ship.settled("sony")
    replies = await at_once(ship, *["restart_agent"] * 4, name="sony")
    assert not any(reply.is_error for reply in replies)
    await ship.settled("sony")
    await eventually(lambda: len(ship.yard.left()) == 1)
    await ship.start("sony", "/say still one")
    (agent,) = await ship.settled("sony")
    assert agent["last_report"] == "still one"


async def test_an_agent_that_is_deleted_twice_at_once_names_its_branch_to_both(ship: Ship) -> None:
    await ship.create("sony", "/write new.txt untracked", on="story")
    await ship.settled("sony")
    replies = await at_once(ship, "delete_agent", "delete_agent", name="sony")
    branches = {reply.answer["saved_branch"] for reply in replies}
    assert len(branches) == 1
    assert None not in branches


async def test_an_agent_that_is_restarted_and_deleted_at_once_is_deleted(ship: Ship) -> None:
    await ship.create("sony", "/say ready")
    await ship.settled("sony")
    restarted, deleted = await at_once(ship, "restart_agent", "delete_agent", name="sony")
    assert not restarted.is_error or restarted.error["code"] == "NOT_FOUND"
    assert not deleted.is_error
    await eventually(lambda: not ship.yard.left())
    assert (await ship.answer("list_agents", include_metadata=False))["agents"] == []


async def test_an_agent_can_be_deleted_while_it_is_starting(ship: Ship) -> None:
    await ship.create("sony", "/say never", role="late")
    await eventually(ship.yard.left)
    deleted = await ship.answer("delete_agent", agent_name="sony")
    assert deleted["status"] == "deleted"
    assert not ship.yard.left()


async def test_an_agent_that_is_restarted_while_it_is_starting_does_its_first_task(
    ship: Ship,
) -> None:
    await ship.create("sony", "/say the first task", role="slow")
    await eventually(ship.yard.left)
    await ship.answer("restart_agent", agent_name="sony")
    (agent,) = await ship.settled("sony")
    assert (agent["status"], agent["last_report"]) == ("idle", "the first task")
    (task,) = await ship.tasks("sony")
    assert task["state"] == "done"


async def test_a_daemon_that_is_stopped_while_agents_start_leaves_none_of_them(yard: Yard) -> None:
    yard.roles["late"] = faulty("--late", "600")
    async with yard.sailing() as ship:
        for number in range(3):
            await ship.create(f"sony-{number}", "/say later", role="late")
        await eventually(lambda: len(yard.left()) == 3)
        assert await anyio.to_thread.run_sync(ship.stop) == 0
        assert not yard.left()
    async with yard.sailing() as ship:
        listed = await ship.answer("list_agents", include_metadata=False)
        assert {agent["status"] for agent in listed["agents"]} == {"stopped"}
