"""How the scripted agent goes wrong on purpose, and what it leaves behind."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.scripted_agents import AgentGone, ScriptedAgent, scripted_agent

GONE_SECONDS = 10


@pytest.fixture
def orphan(agent: ScriptedAgent, session: str, tmp_path: Path) -> Iterator[psutil.Process]:
    """A process that the agent started in a session of its own."""
    agent.prompt(session, "/orphan pid")
    process = psutil.Process(int((tmp_path / "pid").read_text(encoding="utf-8")))
    yield process
    with suppress(psutil.NoSuchProcess):
        process.kill()


def running_command(agent: ScriptedAgent, session: str, folder: Path) -> psutil.Process:
    """Let the agent run a command with a child, and return the child."""
    agent.begin_prompt(session, "/run sleep 600 & echo $! > new; mv new pid; wait")
    agent.until_update("tool_call")
    other = agent.new_session(folder)
    agent.prompt(other, "/wait pid")
    return psutil.Process(int((folder / "pid").read_text(encoding="utf-8")))


def ended(process: psutil.Process) -> bool:
    with suppress(psutil.TimeoutExpired):
        process.wait(GONE_SECONDS)
    # Where nobody reaps what lost its parent, it stays as an entry that does nothing.
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(("line", "code"), [("/crash", 1), ("/crash 7", 7)])
def test_crash_ends_the_process_without_an_answer(
    agent: ScriptedAgent, session: str, line: str, code: int
) -> None:
    with pytest.raises(AgentGone):
        agent.prompt(session, "/say Goodbye.", line)
    assert agent.said == "Goodbye."
    assert agent.process.wait() == code


def test_an_orphan_outlives_its_agent_in_a_session_of_its_own(
    agent: ScriptedAgent, orphan: psutil.Process
) -> None:
    assert os.getsid(orphan.pid) == orphan.pid
    assert agent.end() == 0
    assert orphan.is_running()


def test_a_cancelled_command_is_killed_with_its_children(
    agent: ScriptedAgent, session: str, tmp_path: Path
) -> None:
    command = running_command(agent, session, tmp_path)
    agent.cancel(session)
    assert ended(command)


def test_the_end_of_its_input_ends_the_agent_and_what_it_runs(
    agent: ScriptedAgent, session: str, tmp_path: Path
) -> None:
    command = running_command(agent, session, tmp_path)
    assert agent.end() == 0
    assert ended(command)


def test_sigterm_ends_the_agent_and_what_it_runs(
    agent: ScriptedAgent, session: str, tmp_path: Path
) -> None:
    command = running_command(agent, session, tmp_path)
    agent.process.send_signal(signal.SIGTERM)
    assert agent.process.wait(GONE_SECONDS) == 128 + signal.SIGTERM
    assert ended(command)


def test_a_turn_that_ignores_cancels_ends_with_the_input(
    agent: ScriptedAgent, session: str
) -> None:
    agent.begin_prompt(session, "/ignore-cancel", "/think Deaf.", "/hang")
    agent.until_update("agent_thought_chunk")
    assert agent.end() == 0


def test_a_stubborn_agent_ends_by_sigkill_alone() -> None:
    with scripted_agent("--stubborn") as agent:
        agent.process.send_signal(signal.SIGTERM)
        agent.call("session/list")
        assert agent.process.stdin is not None
        assert agent.process.stderr is not None
        agent.process.stdin.close()
        assert agent.process.stderr.readline() == b"The input has ended, but not this agent.\n"
        agent.process.kill()
        assert agent.process.wait(GONE_SECONDS) == -signal.SIGKILL


def test_a_silent_agent_never_answers() -> None:
    with scripted_agent("--silent", greet=False) as agent:
        agent.begin("initialize", protocolVersion=1)
        assert agent.end() == 0
        with pytest.raises(AgentGone):
            agent.receive()


def test_an_agent_can_end_before_it_begins() -> None:
    with scripted_agent("--exit", "3", greet=False) as agent:
        assert agent.process.wait(GONE_SECONDS) == 3


def test_a_late_agent_answers_all_the_same() -> None:
    with scripted_agent("--late", "0.1") as agent:
        assert agent.call("session/list") == {"sessions": []}
