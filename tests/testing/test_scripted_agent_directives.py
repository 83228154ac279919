"""What each directive does, seen by a client of the process."""

from pathlib import Path

import pytest

from tests.support.scripted_agents import ScriptedAgent, scripted_agent

PERMISSION = "session/request_permission"
ENDED = {"stopReason": "end_turn"}


def choosing(option: str) -> dict[str, object]:
    return {"result": {"outcome": {"outcome": "selected", "optionId": option}}}


def test_say_comes_in_pieces_that_make_up_the_text(agent: ScriptedAgent, session: str) -> None:
    assert agent.prompt(session, "/say Hello to  all of you\\nout there") == ENDED
    assert len(agent.pieces) > 1
    assert agent.said == "Hello to  all of you\nout there"


def test_two_messages_do_not_run_into_each_other(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/say one", "/say two")
    assert agent.said == "one\ntwo"


def test_lines_between_directives_are_echoed(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "Please", "be quick.", "/say Yes.")
    assert agent.said == "You said: Please be quick.\nYes."


def test_think_is_a_thought_and_no_message(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/think Hm.")
    assert [update["content"]["text"] for update in agent.updates("agent_thought_chunk")] == ["Hm."]
    assert agent.said == ""


def test_plan_shows_its_entries_and_works_on_the_first(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/plan Read; Write; ")
    (plan,) = agent.updates("plan")
    states = [(entry["content"], entry["status"]) for entry in plan["entries"]]
    assert states == [("Read", "in_progress"), ("Write", "pending")]


@pytest.mark.parametrize(("code", "status"), [(0, "completed"), (3, "failed")])
def test_run_reports_a_commands_output_and_how_it_ended(
    agent: ScriptedAgent, session: str, tmp_path: Path, code: int, status: str
) -> None:
    agent.prompt(session, f"/run pwd; echo problem >&2; exit {code}")
    (begun,), (ended,) = agent.updates("tool_call"), agent.updates("tool_call_update")
    assert (begun["kind"], begun["status"]) == ("execute", "in_progress")
    assert (ended["status"], ended["rawOutput"]) == (status, {"exitCode": code})
    assert ended["content"][0]["content"]["text"] == f"{tmp_path}\nproblem\n"
    assert ended["toolCallId"] == begun["toolCallId"]


@pytest.mark.parametrize("option", ["allow-once", "allow-always", "reject-once"])
def test_ask_says_what_was_chosen_and_goes_on(
    agent: ScriptedAgent, session: str, option: str
) -> None:
    agent.replies[PERMISSION] = choosing(option)
    assert agent.prompt(session, "/ask Delete everything", "/say Next.") == ENDED
    assert agent.said.startswith(f"permission: {option}")
    assert agent.said.endswith("Next.")
    (question,) = [message for message in agent.messages if message.get("method") == PERMISSION]
    assert question["params"]["toolCall"]["title"] == "Delete everything"
    kinds = [offered["kind"] for offered in question["params"]["options"]]
    assert kinds == ["allow_once", "allow_always", "reject_once"]


def test_ask_takes_an_answer_without_a_choice_for_a_no(agent: ScriptedAgent, session: str) -> None:
    agent.replies[PERMISSION] = {"result": {"outcome": {"outcome": "cancelled"}}}
    assert agent.prompt(session, "/ask Delete everything") == ENDED
    assert agent.said == "permission: cancelled"
    assert agent.updates("tool_call_update")[-1]["status"] == "failed"


@pytest.mark.parametrize(("option", "written"), [("allow-once", True), ("reject-once", False)])
def test_ask_edit_writes_only_what_was_allowed(
    agent: ScriptedAgent, session: str, tmp_path: Path, option: str, *, written: bool
) -> None:
    agent.replies[PERMISSION] = choosing(option)
    agent.prompt(session, "/ask-edit notes/a.txt one two")
    assert (tmp_path / "notes/a.txt").exists() is written
    (question,) = [message for message in agent.messages if message.get("method") == PERMISSION]
    tool_call = question["params"]["toolCall"]
    assert tool_call["kind"] == "edit"
    assert tool_call["locations"] == [{"path": str(tmp_path / "notes/a.txt")}]


def test_write_changes_a_file_and_shows_the_difference(
    agent: ScriptedAgent, session: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("old\n", encoding="utf-8")
    agent.prompt(session, "/write a.txt new\\nlines")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new\nlines\n"
    (call,) = agent.updates("tool_call")
    (difference,) = call["content"]
    assert (difference["oldText"], difference["newText"]) == ("old\n", "new\nlines\n")


def test_read_says_what_a_file_holds(agent: ScriptedAgent, session: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    agent.prompt(session, "/read a.txt")
    assert agent.said == "hello"


def test_read_of_a_missing_file_fails_and_the_turn_goes_on(
    agent: ScriptedAgent, session: str
) -> None:
    assert agent.prompt(session, "/read a.txt", "/say Next.") == ENDED
    assert agent.updates("tool_call_update")[0]["status"] == "failed"
    assert agent.said == "I cannot read a.txt.\nNext."


def test_read_goes_through_a_client_that_offers_it(tmp_path: Path) -> None:
    with scripted_agent(greet=False) as agent:
        files = {"fs": {"readTextFile": True}}
        agent.call("initialize", protocolVersion=1, clientCapabilities=files)
        agent.replies["fs/read_text_file"] = {"result": {"content": "from the client"}}
        session = agent.new_session(tmp_path)
        agent.prompt(session, "/read a.txt")
        (asked,) = [m["params"] for m in agent.messages if m.get("method") == "fs/read_text_file"]
    assert asked == {"sessionId": session, "path": str(tmp_path / "a.txt")}
    assert agent.said == "from the client"


def test_slow_keeps_reporting(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/slow 0.6")
    states = [update["status"] for update in agent.updates("tool_call_update")]
    assert states == ["in_progress", "in_progress", "completed"]


def test_wait_goes_on_when_the_file_is_there(
    agent: ScriptedAgent, session: str, tmp_path: Path
) -> None:
    turn = agent.begin_prompt(session, "/think Before.", "/wait go", "/run rm go")
    agent.until_update("agent_thought_chunk")
    (tmp_path / "go").touch()
    assert agent.answer_to(turn)["result"] == ENDED
    assert agent.updates("tool_call_update")[-1]["status"] == "completed"


def test_usage_is_in_the_result_and_its_cost_adds_up(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/usage 10 5 0.25")
    result = agent.prompt(session, "/usage 20 5 0.5")
    assert result["usage"] == {"inputTokens": 20, "outputTokens": 5, "totalTokens": 25}
    amounts = [update["cost"]["amount"] for update in agent.updates("usage_update")]
    assert amounts == [0.25, 0.75]


def test_big_is_one_piece_and_flood_is_many(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/big 300000")
    assert [len(piece) for piece in agent.pieces] == [300_000]
    agent.prompt(session, "/flood 300000")
    assert len(agent.said) == 600_000
    assert len(agent.pieces) > 10


def test_unknown_is_an_update_like_no_other(agent: ScriptedAgent, session: str) -> None:
    assert agent.prompt(session, "/unknown boo") == ENDED
    assert agent.updates("scripted_surprise")[0]["surprise"] == "boo"


def test_env_says_a_variable_or_that_there_is_none(tmp_path: Path) -> None:
    with scripted_agent(variables={"GREETING": "hi there"}) as agent:
        agent.prompt(agent.new_session(tmp_path), "/env GREETING", "/env FAREWELL")
    assert agent.said == "GREETING=hi there\nFAREWELL is not set"


def test_link_says_the_address(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/link https://example.org/pull/1")
    assert agent.said == "See https://example.org/pull/1"


def test_stderr_goes_to_standard_error(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/stderr something odd")
    assert agent.process.stderr is not None
    assert agent.process.stderr.readline() == b"something odd\n"


def test_refuse_ends_the_turn_before_what_follows(agent: ScriptedAgent, session: str) -> None:
    assert agent.prompt(session, "/refuse", "/say never") == {"stopReason": "refusal"}
    assert agent.said == ""


def test_fail_is_an_error_that_tells_why_in_its_data(agent: ScriptedAgent, session: str) -> None:
    error = agent.prompt(session, "/fail no credit left")
    assert error["code"] == -32603
    assert error["data"] == {"details": "no credit left"}
    assert agent.prompt(session, "/say Still here.") == ENDED


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("/slow soon", "'/slow SECONDS': 'soon' is no number"),
        ("/slow -1", "'/slow SECONDS': '-1' is out of range"),
        ("/usage 1 2", "'/usage IN OUT COST': expected 3 words, got 2"),
        ("/write a.txt", "'/write PATH TEXT': expected 2 words, got 1"),
    ],
)
def test_a_directive_that_makes_no_sense_says_how_it_is_written(
    agent: ScriptedAgent, session: str, line: str, reason: str
) -> None:
    error = agent.prompt(session, line)
    assert (error["code"], error["data"]["details"]) == (-32602, reason)


def test_without_directives_it_writes_the_task_down_and_reports(
    agent: ScriptedAgent, session: str, tmp_path: Path
) -> None:
    agent.prompt(session, "Fix the login test.")
    result = agent.prompt(session, "Then the\nlogout test.")
    notes = (tmp_path / "NOTES.md").read_text(encoding="utf-8")
    assert notes == "# Notes\n\n- Fix the login test.\n- Then the\n  logout test.\n"
    assert result["usage"]["totalTokens"] > 0
    assert {entry["status"] for entry in agent.updates("plan")[-1]["entries"]} == {"completed"}
    assert agent.said.endswith("Done: the task is in NOTES.md.")


def test_in_plan_mode_it_only_plans(agent: ScriptedAgent, session: str, tmp_path: Path) -> None:
    agent.call("session/set_mode", sessionId=session, modeId="plan")
    assert agent.prompt(session, "Fix the login test.") == ENDED
    assert agent.updates("plan")
    assert list(tmp_path.iterdir()) == []


def test_help_lists_every_directive(agent: ScriptedAgent, session: str) -> None:
    agent.prompt(session, "/help")
    assert "/ask-edit PATH TEXT: writes a file if that is allowed" in agent.said.splitlines()
