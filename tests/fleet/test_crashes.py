"""Agents that end by themselves: what is said of it, and how they come back."""

import os
import signal

import pytest

from tests.support.ships import Json, Yard

pytestmark = pytest.mark.timeout(120)  # real daemons and agents, on a busy machine

MOST_RESTARTS = 5
SOON = {"fleet.restart_seconds": 0.05}


def is_idle(agent: Json) -> bool:
    return agent["status"] == "idle"


async def test_a_task_whose_agent_crashes_is_failed_with_the_exit_code_and_its_last_words(
    yard: Yard,
) -> None:
    yard.settings |= SOON
    async with yard.sailing() as ship:
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
    yard: Yard,
) -> None:
    yard.settings |= SOON
    async with yard.sailing() as ship:
        await ship.create("sony", "/crash 3")
        for _ in range(MOST_RESTARTS):
            await ship.seen("sony", is_idle)
            await ship.start("sony", "/crash 4")
        failed = await ship.seen("sony", lambda agent: "after 5 new starts" in str(agent["reason"]))
        said = await ship.said("sony")
        assert failed["status"] == "failed"
        assert "exit code 4" in failed["reason"]
        pauses = ("0.05", "0.1", "0.2", "0.4", "0.8")
        assert [f"started again in {pause} s" in said for pause in pauses] == [True] * 5
        await ship.answer("restart_agent", agent_name="sony")
        await ship.seen("sony", is_idle)


async def test_a_task_that_succeeds_makes_good_for_earlier_crashes(yard: Yard) -> None:
    yard.settings |= SOON
    async with yard.sailing() as ship:
        await ship.create("sony", "/crash 3")
        await ship.seen("sony", is_idle)
        await ship.start("sony", "/say fine")
        await ship.seen("sony", is_idle)
        await ship.start("sony", "/crash 4")
        await ship.seen("sony", is_idle)
        said = await ship.said("sony")
    assert said.count("started again in 0.05 s") == 2


async def test_an_agent_that_crashes_while_it_is_idle_comes_back(yard: Yard) -> None:
    yard.settings |= SOON
    async with yard.sailing() as ship:
        await ship.create("sony", "/run echo $PPID > agent.pid")
        await ship.settled("sony")
        os.kill(int((yard.folder / "agent.pid").read_text(encoding="utf-8")), signal.SIGKILL)
        await ship.is_at("sony", "SIGKILL")
        await ship.seen("sony", is_idle)
        await ship.start("sony", "/say back again")
        (agent,) = await ship.settled("sony")
        assert agent["last_report"] == "back again"
        newest, first = await ship.tasks("sony")
    assert (first["state"], newest["state"]) == ("done", "done")


async def test_an_agent_that_ends_right_after_its_task_is_not_taken_for_idle(yard: Yard) -> None:
    yard.settings |= SOON
    async with yard.sailing() as ship:
        # It is killed a moment after it has answered, while its work is being looked at.
        await ship.create("sony", "/run (sleep 0.05; kill -9 $PPID) &", "/say done")
        await ship.is_at("sony", "SIGKILL")
        await ship.seen("sony", is_idle)
        await ship.start("sony", "/say again")
        await ship.settled("sony")
        states = [task["state"] for task in await ship.tasks("sony")]
    assert states[0] == "done"
