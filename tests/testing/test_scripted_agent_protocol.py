"""Sessions, cancels and bad input, seen by a client of the process."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scripted_agents import Message, ScriptedAgent, kind_of, scripted_agent

STATE = "QUARTERDECK_SCRIPTED_STATE"


@pytest.fixture
def silent_server() -> Iterator[str]:
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/mcp"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return {STATE: str(tmp_path / "state")}


def test_it_offers_to_load_sessions_only_if_it_keeps_them(variables: dict[str, str]) -> None:
    offers: list[object] = []
    for environment in ({STATE: ""}, variables):
        with scripted_agent(variables=environment, greet=False) as agent:
            offers.append(agent.call("initialize", protocolVersion=1)["agentCapabilities"])
    without, with_state = offers
    assert isinstance(without, dict)
    assert isinstance(with_state, dict)
    assert (without["loadSession"], with_state["loadSession"]) == (False, True)
    assert without["sessionCapabilities"] == {"list": {}, "close": {}}
    assert with_state["sessionCapabilities"] == {"list": {}, "close": {}, "resume": {}}


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("/slow 60", "tool_call"),
        ("/wait never", "agent_thought_chunk"),
        ("/hang", "agent_thought_chunk"),
        ("/loop", "tool_call_update"),
        ("/run sleep 60; echo", "tool_call"),
        ("/ask Something", "session/request_permission"),
        ("/ask-edit a.txt text", "session/request_permission"),
        ("/flood 100000000000", "agent_message_chunk"),
        ("/mcp tool {}", "tool_call"),
    ],
)
def test_a_cancel_ends_every_directive_that_takes_time(
    agent: ScriptedAgent, tmp_path: Path, silent_server: str, line: str, sign: str
) -> None:
    server: Message = {"type": "http", "name": "silent", "url": silent_server, "headers": []}
    session = agent.new_session(tmp_path, [server])
    turn = agent.begin_prompt(session, "/think Begun.", line, "/write after.txt text")
    agent.until(lambda message: sign in {message["method"], kind_of(message)})
    agent.cancel(session)
    assert agent.answer_to(turn)["result"] == {"stopReason": "cancelled"}
    assert list(tmp_path.iterdir()) == []
    assert agent.prompt(session, "/say Ready again.") == {"stopReason": "end_turn"}


def test_a_cancel_between_turns_changes_nothing(agent: ScriptedAgent, session: str) -> None:
    agent.cancel(session)
    assert agent.prompt(session, "/say Hello.") == {"stopReason": "end_turn"}


def test_a_turn_can_ignore_a_cancel(agent: ScriptedAgent, session: str, tmp_path: Path) -> None:
    turn = agent.begin_prompt(session, "/ignore-cancel", "/think Deaf.", "/wait go")
    agent.until_update("agent_thought_chunk")
    agent.cancel(session)
    agent.call("session/set_mode", sessionId=session, modeId="plan")
    (tmp_path / "go").touch()
    assert agent.answer_to(turn)["result"] == {"stopReason": "end_turn"}


def test_a_cancel_reaches_its_own_session_only(agent: ScriptedAgent, tmp_path: Path) -> None:
    first, second = agent.new_session(tmp_path), agent.new_session(tmp_path)
    turns = [agent.begin_prompt(each, "/wait go") for each in (first, second)]
    agent.cancel(first)
    assert agent.answer_to(turns[0])["result"]["stopReason"] == "cancelled"
    (tmp_path / "go").touch()
    assert agent.answer_to(turns[1])["result"]["stopReason"] == "end_turn"


def test_a_session_has_one_turn_at_a_time(agent: ScriptedAgent, session: str) -> None:
    agent.begin_prompt(session, "/hang")
    error = agent.prompt(session, "/say Me too.")
    assert (error["code"], error["data"]["details"]) == (-32600, "a turn is running already")


def test_a_closed_session_ends_its_turn_and_is_gone(agent: ScriptedAgent, session: str) -> None:
    turn = agent.begin_prompt(session, "/ignore-cancel", "/think Begun.", "/hang")
    agent.until_update("agent_thought_chunk")
    closing = agent.begin("session/close", sessionId=session)
    answers = {answer["id"]: answer["result"] for answer in (agent.receive(), agent.receive())}
    assert answers == {closing: {}, turn: {"stopReason": "cancelled"}}
    assert agent.prompt(session, "/say Hello?")["code"] == -32602


def test_mode_and_model_are_kept_and_reported(tmp_path: Path, variables: dict[str, str]) -> None:
    with scripted_agent(variables=variables) as agent:
        session = agent.new_session(tmp_path)
        agent.call("session/set_mode", sessionId=session, modeId="plan")
        changed = agent.call(
            "session/set_config_option",
            sessionId=session,
            configId="model",
            value="scripted-large",
        )
        assert changed["configOptions"][0]["currentValue"] == "scripted-large"
    with scripted_agent(variables=variables) as agent:
        loaded = agent.call("session/resume", sessionId=session, cwd=str(tmp_path))
    assert loaded["modes"]["currentModeId"] == "plan"
    assert loaded["configOptions"][0]["currentValue"] == "scripted-large"


def test_a_killed_agents_conversation_is_replayed_by_the_next(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    with scripted_agent(variables=variables) as agent:
        session = agent.new_session(tmp_path)
        agent.prompt(session, "/usage 1 1 0.5", "/say The answer is 42.")
        agent.begin_prompt(session, "/say Working on it.", "/think So.", "/hang")
        agent.until_update("agent_thought_chunk")
        agent.process.kill()
    with scripted_agent(variables=variables) as agent:
        agent.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        assert agent.pieces == ["The answer is 42.", "Working on it."]
        asked = [update["content"]["text"] for update in agent.updates("user_message_chunk")]
        assert asked[0] == "/usage 1 1 0.5\n/say The answer is 42."
        agent.prompt(session, "/usage 1 1 0.25")
        assert agent.updates("usage_update")[0]["cost"]["amount"] == 0.75


def test_a_resumed_session_goes_on_without_a_replay(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    with scripted_agent(variables=variables) as agent:
        session = agent.new_session(tmp_path)
        agent.prompt(session, "/say Hello.")
    with scripted_agent(variables=variables) as agent:
        agent.call("session/resume", sessionId=session, cwd=str(tmp_path))
        assert agent.said == ""
        assert agent.prompt(session, "/say Again.") == {"stopReason": "end_turn"}


def test_sessions_are_listed_by_folder(tmp_path: Path, variables: dict[str, str]) -> None:
    with scripted_agent(variables=variables) as agent:
        earlier = agent.new_session(tmp_path)
    with scripted_agent(variables=variables) as agent:
        now = agent.new_session(tmp_path / "other")
        everywhere = agent.call("session/list")["sessions"]
        assert {each["sessionId"] for each in everywhere} == {earlier, now}
        there = agent.call("session/list", cwd=str(tmp_path))["sessions"]
        assert there == [{"sessionId": earlier, "cwd": str(tmp_path)}]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b'{"jsonrpc":"2.0"}', -32600),
        (b'{"jsonrpc":"2.0","id":9,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":9,"method":"session/new","params":[]}', -32600),
        (b'{"jsonrpc":"2.0","id":9,"method":"session/fly"}', -32601),
        (b'{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":1}}', -32602),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"x"}}', -32602),
    ],
)
def test_bad_input_gets_an_error_and_harms_nobody(
    agent: ScriptedAgent, session: str, line: bytes, code: int
) -> None:
    agent.send(line)
    assert agent.receive()["error"]["code"] == code
    assert agent.prompt(session, "/say Fine.") == {"stopReason": "end_turn"}


def test_a_sessions_folder_must_be_absolute(agent: ScriptedAgent) -> None:
    error = agent.call("session/new", cwd="here", mcpServers=[])
    assert (error["code"], error["data"]["details"]) == (-32602, "'cwd' must be an absolute path")


@pytest.mark.parametrize("session_id", ["unknown", "../secrets", ""])
def test_what_was_never_begun_cannot_be_loaded(
    tmp_path: Path, variables: dict[str, str], session_id: str
) -> None:
    with scripted_agent(variables=variables) as agent:
        error = agent.call("session/load", sessionId=session_id, cwd=str(tmp_path), mcpServers=[])
    assert (error["code"], error["data"]["details"]) == (-32602, f"no session {session_id!r}")


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("session/set_mode", {"modeId": "turbo"}),
        ("session/set_config_option", {"configId": "colour", "value": "red"}),
        ("session/set_config_option", {"configId": "model", "value": "huge"}),
    ],
)
def test_modes_and_options_that_are_not_there_are_refused(
    agent: ScriptedAgent, session: str, method: str, wrong: dict[str, str]
) -> None:
    assert agent.call(method, sessionId=session, **wrong)["code"] == -32602


def test_notifications_and_answers_nobody_waits_for_are_ignored(
    agent: ScriptedAgent, session: str
) -> None:
    agent.send({"jsonrpc": "2.0", "method": "session/surprise"})
    agent.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    assert agent.prompt(session, "/say Fine.") == {"stopReason": "end_turn"}
