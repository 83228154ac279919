"""Agents do not outlive their daemon, however it ends, and nobody has to help."""

import json
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from quarterdeck.clients.processes.keeper import Keeper
from tests.support.agents import (
    FAMILY,
    PYTHON,
    SUPPORT,
    kill,
    left_of,
    marked,
    members,
    processes,
    recorded,
    started,
)
from tests.support.children import child, next_line

AGENTS = 20


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_the_agents_of_a_daemon_that_is_gone_are_gone(
    tmp_path: Path, node: str, number: signal.Signals
) -> None:
    daemon_program = str(SUPPORT / "doomed_daemon.py")
    with child(daemon_program, str(tmp_path), node, str(AGENTS), *FAMILY) as daemon:
        everybody = processes(json.loads(next_line(daemon)))
        try:
            assert len(marked(node)) == 2 * AGENTS
            os.kill(daemon.pid, number)
            # One that is stopped is there, and its agents are too, until it is killed.
            if number is signal.SIGSTOP:
                assert len(marked(node)) == 2 * AGENTS
                daemon.kill()
            assert left_of(everybody) == []
        finally:
            kill(everybody)
    assert marked(node) == []


async def test_what_a_killed_keeper_had_started_is_ended_and_told(
    keeper: Keeper, tmp_path: Path
) -> None:
    agents = [await started(keeper, tmp_path, *FAMILY, "stubborn") for _ in range(3)]
    families = [process for agent in agents for process in await members(agent)]
    assert keeper.pid is not None
    os.kill(keeper.pid, signal.SIGKILL)
    assert [await agent.wait() for agent in agents] == [-signal.SIGKILL] * 3
    assert [agent.is_lost for agent in agents] == [True] * 3
    assert left_of(families) == []


async def test_after_a_killed_keeper_the_next_agent_gets_a_new_one(
    keeper: Keeper, tmp_path: Path, records: Path
) -> None:
    agent = await started(keeper, tmp_path, *FAMILY)
    killed = keeper.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await agent.end(grace=5)
    another = await started(keeper, tmp_path, *PYTHON, "print('here')")
    assert await another.stdout.readline() == b"here\n"
    assert keeper.pid != killed
    await another.end(grace=5)
    assert recorded(records) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux: it reads /proc")
async def test_a_keeper_loads_little(keeper: Keeper, tmp_path: Path) -> None:
    await started(keeper, tmp_path, *PYTHON, "")
    assert keeper.pid is not None
    mapped = {Path(area.path).name for area in psutil.Process(keeper.pid).memory_maps()}
    assert not any("psutil" in name or "pydantic" in name for name in mapped)
