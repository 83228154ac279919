"""Nothing of an agent is left when it has been ended, and nothing of another is touched."""

import asyncio
import fcntl
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from quarterdeck.clients.processes.child import CannotStart
from quarterdeck.clients.processes.keeper import Keeper
from tests.support.agents import (
    FAMILY,
    PYTHON,
    is_alive,
    kill,
    left_of,
    marked,
    members,
    recorded,
    started,
)

WAITING = "import signal; print('ready'); signal.pause()"
only_with_a_subreaper = pytest.mark.skipif(
    sys.platform != "linux", reason="only on Linux: elsewhere nobody adopts orphans"
)


async def test_an_agent_takes_along_what_left_it(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *FAMILY)
    family = await members(agent)
    await agent.end(grace=5)
    assert [process for process in family if is_alive(process)] == []
    assert await agent.wait() == -signal.SIGTERM


async def test_other_agents_are_left_alone(keeper: Keeper, tmp_path: Path) -> None:
    agent, other = [await started(keeper, tmp_path, *FAMILY) for _ in range(2)]
    others = await members(other)
    await members(agent)
    await agent.end(grace=5)
    assert [is_alive(process) for process in others] == [True, True]
    await other.end(grace=5)
    assert [is_alive(process) for process in others] == [False, False]


async def test_who_does_not_mind_being_asked_is_killed(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *FAMILY, "stubborn")
    family = await members(agent)
    await agent.end(grace=0.2)
    assert [process for process in family if is_alive(process)] == []
    assert await agent.wait() == -signal.SIGKILL


async def test_the_time_to_end_is_cut_short_by_asking_again(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *FAMILY, "stubborn")
    family = await members(agent)
    patient = asyncio.create_task(agent.end(grace=600))
    await agent.end(grace=0.1)
    await patient
    assert [process for process in family if is_alive(process)] == []


async def test_an_agent_may_end_by_itself_when_its_stdin_does(
    keeper: Keeper, tmp_path: Path
) -> None:
    orderly = (
        "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready')\n"
        "sys.stdin.read(); print('saved'); sys.exit(3)"
    )
    agent = await started(keeper, tmp_path, *PYTHON, orderly)
    assert await agent.stdout.readline() == b"ready\n"
    await agent.end(grace=30)
    assert await agent.wait() == 3
    assert await agent.stdout.read() == b"saved\n"


async def test_what_an_agent_left_that_crashed_is_ended_too(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *FAMILY)
    first, other = await members(agent)
    first.kill()
    assert await agent.wait() == -signal.SIGKILL
    assert is_alive(other)
    await agent.end(grace=5)
    assert not is_alive(other)


@only_with_a_subreaper
async def test_who_hides_its_mark_is_ended_with_the_keeper_at_the_latest(
    keeper: Keeper, tmp_path: Path
) -> None:
    agent = await started(keeper, tmp_path, *FAMILY, "scrubbed")
    family = await members(agent)
    try:
        await agent.end(grace=5)
        await keeper.close()
        assert [process for process in family if is_alive(process)] == []
    finally:
        kill(family)


@only_with_a_subreaper
async def test_who_forks_faster_than_we_look_is_ended_with_the_keeper_at_the_latest(
    keeper: Keeper, tmp_path: Path
) -> None:
    # Each holds the lock that the first one took, lives for a moment, and has the next one.
    fleeing = (
        "import fcntl, os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "lock = open('lock', 'wb'); fcntl.flock(lock, fcntl.LOCK_EX); print('ready')\n"
        "end = time.monotonic() + 30\n"  # nobody could end it if the keeper did not
        "while time.monotonic() < end:\n"
        "    if os.fork(): os._exit(0)\n"
        "    os.setsid(); time.sleep(0.001)"
    )
    with (tmp_path / "lock").open("wb") as lock:
        agent = await started(keeper, tmp_path, *PYTHON, fleeing)
        assert await agent.stdout.readline() == b"ready\n"
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        await keeper.close()
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


async def test_who_was_seen_as_a_descendant_stays_known_without_a_mark(
    keeper: Keeper, tmp_path: Path
) -> None:
    # It outlives its parent, in a session of its own, because it does not mind being asked.
    parent = (
        "import signal, subprocess, sys\n"
        "code = 'import signal; signal.signal(15, signal.SIG_IGN); print(1); signal.pause()'\n"
        "child = subprocess.Popen([sys.executable, '-u', '-c', code], env={},\n"
        "    start_new_session=True, stdout=subprocess.PIPE)\n"
        "child.stdout.readline(); print(child.pid); signal.pause()"
    )
    agent = await started(keeper, tmp_path, *PYTHON, parent)
    child = psutil.Process(int(await agent.stdout.readline()))
    try:
        await agent.end(grace=0.5)
        assert not is_alive(child)
    finally:
        kill([child])


async def test_ending_twice_and_after_the_end_is_no_error(keeper: Keeper, tmp_path: Path) -> None:
    agent = await started(keeper, tmp_path, *PYTHON, "")
    await agent.wait()
    await asyncio.gather(agent.end(grace=1), agent.end(grace=1))
    await agent.end(grace=1)


async def test_an_agent_that_nobody_reads_can_be_ended(keeper: Keeper, tmp_path: Path) -> None:
    flood = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    agent = await started(keeper, tmp_path, *PYTHON, flood)
    assert await agent.stdout.readexactly(1 << 20)
    agent.stdin.write(b"x" * (1 << 20))  # more than its pipe takes, and it reads nothing
    await agent.end(grace=1)
    assert await agent.wait() == -signal.SIGTERM


async def test_closing_ends_everything(keeper: Keeper, tmp_path: Path, records: Path) -> None:
    agents = [await started(keeper, tmp_path, *FAMILY, "stubborn") for _ in range(3)]
    families = [process for agent in agents for process in await members(agent)]
    assert len(recorded(records)) == 3
    await keeper.close()
    assert [process for process in families if is_alive(process)] == []
    assert [await agent.wait() for agent in agents] == [-signal.SIGKILL] * 3
    assert recorded(records) == []
    with pytest.raises(CannotStart, match="everything is being ended"):
        await started(keeper, tmp_path, *FAMILY)


async def test_giving_up_a_start_at_any_moment_leaves_nothing(
    keeper: Keeper, tmp_path: Path, node: str, records: Path
) -> None:
    kept = await started(keeper, tmp_path, *PYTHON, WAITING)
    before = asyncio.all_tasks()
    for turns in range(12):
        starting = asyncio.create_task(started(keeper, tmp_path, *PYTHON, WAITING))
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        for agent in await asyncio.gather(starting, return_exceptions=True):
            assert isinstance(agent, asyncio.CancelledError)
    await asyncio.gather(*asyncio.all_tasks() - before)
    assert [process.pid for process in marked(node)] == [kept.pid]
    assert len(recorded(records)) == 1


async def test_a_keeper_holds_no_zombies_and_no_files_of_the_daemon(
    keeper: Keeper, tmp_path: Path
) -> None:
    with (tmp_path / "database").open("w", encoding="utf-8"):
        for _ in range(5):
            agent = await started(keeper, tmp_path, *FAMILY)
            await members(agent)
            await agent.end(grace=5)
        assert keeper.pid is not None
        process = psutil.Process(keeper.pid)
        assert process.children() == []
        assert {file.path for file in process.open_files()} == {str(tmp_path / "agents/keeper.log")}
        assert process.num_fds() == 7  # stdio, the daemon, two for signals, one to wait on them


async def test_signals_of_a_terminal_do_not_reach_the_agents(
    keeper: Keeper, tmp_path: Path
) -> None:
    agent = await started(keeper, tmp_path, *PYTHON, WAITING)
    assert await agent.stdout.readline() == b"ready\n"
    assert keeper.pid is not None
    assert os.getsid(keeper.pid) == keeper.pid
    for number in (signal.SIGINT, signal.SIGHUP):
        os.kill(keeper.pid, number)
    another = await started(keeper, tmp_path, *PYTHON, "")
    assert await another.wait() == 0
    assert psutil.pid_exists(agent.pid)


async def test_a_keeper_that_is_asked_to_end_ends_everything_first(
    keeper: Keeper, tmp_path: Path
) -> None:
    agent = await started(keeper, tmp_path, *FAMILY)
    family = await members(agent)
    assert keeper.pid is not None
    os.kill(keeper.pid, signal.SIGTERM)
    assert await agent.wait() == -signal.SIGTERM
    assert left_of(family) == []
