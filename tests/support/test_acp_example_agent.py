"""The example agent does what those rely on who test with it."""

import sys
from pathlib import Path

import acp
import pytest

from tests.support.acp_clients import RecordingClient, connected
from tests.support.repository import ROOT

COMMAND = [sys.executable, str(ROOT / "tests/support/acp_example_agent.py")]


async def test_it_echoes_asks_and_loads(tmp_path: Path) -> None:
    state = {"EXAMPLE_AGENT_STATE": str(tmp_path)}
    client = RecordingClient()
    async with connected(client, COMMAND, state) as agent:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        for text in ("hello, ", "ask"):
            await agent.prompt(session_id=session, prompt=[acp.text_block(text)])
    assert client.said == "hello, yes"
    later = RecordingClient()
    async with connected(later, COMMAND, state) as agent:
        await agent.load_session(cwd=str(tmp_path), session_id=session, mcp_servers=[])
        assert later.said == "yes"
        with pytest.raises(acp.RequestError):
            await agent.load_session(cwd=str(tmp_path), session_id="unknown", mcp_servers=[])
