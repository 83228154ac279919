"""One scripted agent for a test, and a session of it in a folder of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scripted_agents import ScriptedAgent, scripted_agent


@pytest.fixture
def agent() -> Iterator[ScriptedAgent]:
    with scripted_agent() as started:
        yield started


@pytest.fixture
def session(agent: ScriptedAgent, tmp_path: Path) -> str:
    return agent.new_session(tmp_path)
