"""The end of a daemon with agents at work: none outlives it, and nothing they did is lost."""

import sqlite3
from collections.abc import Sequence
from http.client import ACCEPTED, CONFLICT

import anyio
import anyio.to_thread
import pytest

from tests.support.daemons import http
from tests.support.runtimes import eventually
from tests.support.ships import END_SECONDS, Ship, Yard, is_running

pytestmark = [
    pytest.mark.timeout(180),  # real daemons and many agents, on a busy machine
    pytest.mark.xdist_group("fleet-endings"),
]

DOZENS = 20


async def crewed(ship: Ship, count: int) -> Sequence[str]:
    """Create agents that are at work, each with a process that left its session."""
    names = [f"agent-{number}" for number in range(count)]
    async with anyio.create_task_group() as tasks:
        for name in names:
            lines = (f"/orphan {name}.pid", "/say at work", f"/wait {name}.go", "/say finished")
            tasks.start_soon(lambda name=name, lines=lines: ship.create(name, *lines))
    for name in names:
        await ship.is_at(name, "at work")
    return names


def orphans(yard: Yard) -> list[int]:
    return [int(file.read_text(encoding="utf-8")) for file in yard.folder.glob("agent-*.pid")]


async def test_when_the_daemon_is_killed_its_agents_go_with_it_and_can_go_on_after_the_next_start(
    yard: Yard,
) -> None:
    async with yard.sailing() as ship:
        names = await crewed(ship, DOZENS)
        await ship.create("asker", "/ask May I?", "/say asked")
        await ship.seen("asker", lambda agent: agent.get("waiting_for"))
        (question,) = (await ship.answer("question_list"))["questions"]
        pids = [*orphans(yard), *yard.left()]
        assert len(orphans(yard)) == DOZENS
        ship.kill()
        with anyio.fail_after(10):
            await eventually(lambda: not any(map(is_running, pids)))
        assert not yard.left(), "nobody had to start the daemon again"
    async with yard.sailing() as ship:
        for name in names:
            agent, (task,) = await ship.show(name), await ship.tasks(name)
            assert agent["status"] == "failed"
            assert "Quarterdeck ended unexpectedly" in agent["reason"]
            assert (task["state"], task["result"]) == (
                "interrupted",
                "Quarterdeck ended unexpectedly",
            )
            assert "at work" in await ship.said(name)
        assert (await ship.answer("question_list"))["questions"] == []
        refused = await ship.error(
            "question_answer", question_id=question["question_id"], kind="allow_once"
        )
        assert (refused["code"], refused["details"]["state"]) == ("CONFLICT", "expired")
        await goes_on(ship, names[0])


async def goes_on(ship: Ship, name: str) -> None:
    """Restart an agent that was cut off, and see it finish its task in the same conversation."""
    (ship.yard.folder / f"{name}.pid").unlink()
    before = conversation_of(ship.yard, name)
    (ship.yard.folder / f"{name}.go").touch()
    restarted = await ship.answer("restart_agent", agent_name=name)
    assert f"it goes on with: /orphan {name}.pid" in restarted["message"]
    (agent,) = await ship.settled(name)
    assert (agent["status"], agent["last_report"]) == ("idle", "finished")
    (task,) = await ship.tasks(name)
    assert task["state"] == "done", "it is the same task, not another"
    assert conversation_of(ship.yard, name) == before
    assert "You were interrupted" in await ship.said(name)


def conversation_of(yard: Yard, name: str) -> str:
    with sqlite3.connect(yard.deck / "quarterdeck.db") as connection:
        query = "SELECT conversation FROM agents WHERE name = ?"
        return connection.execute(query, (name,)).fetchone()[0]


async def test_a_daemon_that_is_stopped_ends_thirty_busy_agents_and_says_so(yard: Yard) -> None:
    async with yard.sailing() as ship:
        names = await crewed(ship, 30)
        await ship.create("asker", "/ask May I?", "/say asked")
        await ship.seen("asker", lambda agent: agent.get("waiting_for"))
        pids = [*orphans(yard), *yard.left()]
        assert await anyio.to_thread.run_sync(ship.stop) == 0
        assert not any(map(is_running, pids))
        assert not yard.left()
    async with yard.sailing() as ship:
        listed = await ship.answer("list_agents", include_metadata=False)
        found = {agent["name"]: (agent["status"], agent["reason"]) for agent in listed["agents"]}
        assert found == dict.fromkeys([*names, "asker"], ("stopped", "Quarterdeck was stopped"))
        for name in names[:3]:
            (task,) = await ship.tasks(name)
            assert (task["state"], task["result"]) == ("interrupted", "Quarterdeck was stopped")
        assert (await ship.answer("question_list"))["questions"] == []
        await goes_on(ship, names[0])


async def test_a_busy_agent_keeps_a_daemon_from_being_exchanged_and_an_idle_one_does_not(
    yard: Yard,
) -> None:
    async with yard.sailing() as ship:
        await ship.create("sony", "/say at work", "/wait go")
        await ship.is_at("sony", "at work")
        assert http(yard.home, "POST", "/control/stop-if-idle").status_code == CONFLICT
        (yard.folder / "go").touch()
        await ship.settled("sony")
        assert http(yard.home, "POST", "/control/stop-if-idle").status_code == ACCEPTED
        assert await anyio.to_thread.run_sync(ship.process.wait, END_SECONDS) == 0
        assert not yard.left()
