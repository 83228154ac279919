"""The scripted agent and the official ACP package understand each other."""

import asyncio
from pathlib import Path

import acp
import pytest
from acp import schema
from acp.connection import StreamDirection, StreamEvent
from pydantic import BaseModel

from tests.support.acp_clients import RecordingClient, connected
from tests.support.scripted_agents import COMMAND

EVERYTHING = """Please
/say Hello to all of you
/think Hm.
/plan Read; Write
/run echo hello
/write a.txt one
/write a.txt two
/read a.txt
/ask Something
/ask-edit b.txt text
/slow 0.1
/usage 10 5 0.25
/link https://example.org
/env NOTHING
/big 100000
/flood 100000
"""
RESULTS: dict[str, type[BaseModel]] = {
    "initialize": schema.InitializeResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/close": schema.CloseSessionResponse,
    "session/prompt": schema.PromptResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
}
REQUESTS: dict[str, type[BaseModel]] = {
    "session/update": schema.SessionNotification,
    "session/request_permission": schema.RequestPermissionRequest,
    "fs/read_text_file": schema.ReadTextFileRequest,
}


async def prompt(agent: acp.Agent, session_id: str, text: str) -> schema.PromptResponse:
    return await agent.prompt(session_id=session_id, prompt=[acp.text_block(text)])


async def test_every_message_it_sends_is_valid(tmp_path: Path) -> None:
    wire: list[StreamEvent] = []
    state = {"QUARTERDECK_SCRIPTED_STATE": str(tmp_path / "state")}
    async with connected(RecordingClient(), COMMAND, state, wire) as agent:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        await prompt(agent, session, EVERYTHING)
        await prompt(agent, session, "Fix the login test.")
        await agent.set_session_mode(session_id=session, mode_id="plan")
        await agent.set_config_option(config_id="model", session_id=session, value="scripted")
        await agent.load_session(cwd=str(tmp_path), session_id=session, mcp_servers=[])
        await agent.resume_session(cwd=str(tmp_path), session_id=session, mcp_servers=[])
        await agent.list_sessions()
        await agent.close_session(session_id=session)
    assert checked(wire) == RESULTS.keys() | REQUESTS.keys()


def checked(wire: list[StreamEvent]) -> set[str]:
    """Hold all messages of the agent against the schema; return the methods that were seen."""
    asked = {
        event.message["id"]: event.message["method"]
        for event in wire
        if event.direction is StreamDirection.OUTGOING and "method" in event.message
    }
    seen: set[str] = set()
    for event in wire:
        if event.direction is StreamDirection.OUTGOING:
            continue
        if "method" in event.message:
            method, models, content = event.message["method"], REQUESTS, event.message["params"]
        else:
            method, models, content = asked[event.message["id"]], RESULTS, event.message["result"]
        models[method].model_validate(content)
        seen.add(method)
    return seen


@pytest.mark.parametrize(
    ("kind", "option"), [("allow_once", "allow-once"), ("reject_once", "reject-once")]
)
async def test_a_client_answers_its_questions(tmp_path: Path, kind: str, option: str) -> None:
    client = RecordingClient(chooses=kind)
    async with connected(client, COMMAND) as agent:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        answer = await prompt(agent, session, "/ask Delete it")
    assert answer.stop_reason == "end_turn"
    assert client.said == f"permission: {option}"
    assert [question.title for question in client.asked] == ["Delete it"]


async def test_a_client_cancels_it(tmp_path: Path) -> None:
    client = RecordingClient()
    async with connected(client, COMMAND) as agent:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        turn = asyncio.create_task(prompt(agent, session, "/slow 60"))
        await client.updated.wait()
        await agent.cancel(session_id=session)
        assert (await turn).stop_reason == "cancelled"


async def test_a_client_reads_files_for_it(tmp_path: Path) -> None:
    client = RecordingClient()
    async with connected(client, COMMAND) as agent:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        await prompt(agent, session, "/read a.txt")
    assert client.said == f"{tmp_path / 'a.txt'}, by the client"


async def test_an_error_reaches_the_client_with_its_reason(tmp_path: Path) -> None:
    async with connected(RecordingClient(), COMMAND) as agent:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        with pytest.raises(acp.RequestError) as failed:
            await prompt(agent, session, "/fail no credit left")
    assert failed.value.data == {"details": "no credit left"}


async def test_an_unknown_update_does_not_end_a_clients_turn(tmp_path: Path) -> None:
    wire: list[StreamEvent] = []
    client = RecordingClient()
    async with connected(client, COMMAND, wire=wire) as agent:
        session = (await agent.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
        answer = await prompt(agent, session, "/unknown boo\n/say Hello.")
    assert answer.stop_reason == "end_turn"
    assert client.said == "Hello."
    assert any("scripted_surprise" in str(event.message) for event in wire)
