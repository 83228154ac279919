"""Agents that end by themselves: what is said of it, and how they come back."""

import os
import signal
from collections.abc import AsyncIterator

import pytest

from tests.support.ships import Json, Ship, Yard

pytestmark = [
    pytest.mark.timeout(120),  # real daemons and agents, on a busy machine
    pytest.mark.xdist_group("fleet-crashes"),
]

MOST_RESTARTS = 5


@pytest.fixture(scope="module")
async def ship(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ship]:
    yard = Yard(tmp_path_factory.mktemp("crashes"), settings={"fleet.restart_seconds": 0.05})
    async with yard.sailing() as ship:
        yield ship


def is_idle(agent: Json) -> bool:
    return agent["status"] == "idle"


async def test_a_task_whose_agent_crashes_is_failed_with_the_exit_code_and_its_last_words(
    ship: Ship,
) -> None:
    await ship.create("sony", "/say On it", "/stderr the disk is on fire", "/crash 3")
    await ship.seen("sony", is_idle)
    (task,) = await ship.tasks("sony")
    log = await ship.log("sony")
    assert task["state"] == "failed"
    assert "exit code 3" in task["result"]
    assert "the disk is on fire" in task["result"]
    assert [entry["message"] for entry in log if entry["kind"] == "message"] == ["On it"]
    errors = [entry["message"] for entry in log if entry["level"] == "ERROR"]
    assert any("exit code 3" in message and "on fire" in message for message in errors)


async def test_an_agent_that_keeps_crashing_comes_back_five_times_ever_later_and_then_stays(
    ship: Ship,
) -> None:
    await ship.create("nina", "/crash 3")
    for _ in range(MOST_RESTARTS):
        await ship.seen("nina", is_idle)
        await ship.start("nina", "/crash 4")
    failed = await ship.seen("nina", lambda agent: "after 5 new starts" in str(agent.get("reason")))
    said = await ship.said("nina")
    assert failed["status"] == "failed"
    assert "exit code 4" in failed["reason"]
    pauses = ("0.05", "0.1", "0.2", "0.4", "0.8")
    assert [f"started again in {pause} s" in said for pause in pauses] == [True] * 5
    await ship.answer("restart_agent", agent_name="nina")
    await ship.seen("nina", is_idle)


async def test_a_task_that_succeeds_makes_good_for_earlier_crashes(ship: Ship) -> None:
    await ship.create("omar", "/crash 3")
    await ship.seen("omar", is_idle)
    await ship.start("omar", "/say fine")
    await ship.seen("omar", is_idle)
    await ship.start("omar", "/crash 4")
    await ship.seen("omar", is_idle)
    said = await ship.said("omar")
    assert said.count("started again in 0.05 s") == 2


async def test_an_agent_that_crashes_while_it_is_idle_comes_back(ship: Ship) -> None:
    await ship.create("pia", "/run echo $PPID > agent.pid")
    await ship.settled("pia")
    os.kill(int((ship.yard.folder / "agent.pid").read_text(encoding="utf-8")), signal.SIGKILL)
    await ship.is_at("pia", "SIGKILL")
    await ship.seen("pia", is_idle)
    await ship.start("pia", "/say back again")
    (agent,) = await ship.settled("pia")
    assert agent["last_report"] == "back again"
    newest, first = await ship.tasks("pia")
    assert (first["state"], newest["state"]) == ("done", "done")
