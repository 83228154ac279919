"""From what agents send to what the fleet knows, also when they send nonsense."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.domain.agent_events import Noticed, Planned, Said, Spent, UsedTool
from quarterdeck.domain.questions import OptionKind
from quarterdeck.domain.tasks import StopReason
from quarterdeck.repositories.runtimes.acp_permissions import is_refusal, permission_request
from quarterdeck.repositories.runtimes.acp_turns import stop_reason, usage
from quarterdeck.repositories.runtimes.acp_updates import Updates

KINDS = ["agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "other"]
NOTICES = ["available_commands_update", "config_option_update", "session_info_update"]
FIELDS = ["content", "title", "toolCallId", "entries", "cost", "used", "locations", "status"]
NOTICE_FIELDS = ["availableCommands", "configOptions", "currentValue", "name"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "text", "path"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(FIELDS + NOTICE_FIELDS), inner, max_size=2)
    ),
    max_leaves=4,
)


def chunk(content: dict[str, Any], kind: str = "agent_message_chunk") -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": content}


def test_text_is_what_was_said_and_other_content_is_named() -> None:
    updates = Updates()
    said = [
        updates.event(chunk({"type": "text", "text": "hello"}) | {"messageId": "m1"}),
        updates.event(chunk({"type": "text", "text": "hm"}, "agent_thought_chunk")),
        updates.event(chunk({"type": "text", "text": "hi"}, "user_message_chunk")),
        updates.event(chunk({"type": "resource_link", "name": "n", "uri": "https://x.test/1"})),
        updates.event(chunk({"type": "resource", "resource": {"uri": "u", "text": "inside"}})),
        updates.event(chunk({"type": "image", "data": "", "mimeType": "image/png"})),
    ]
    assert said == [
        Said("hello", message_id="m1"),
        Said("hm", is_thought=True),
        Said("hi", by="user"),
        Said("https://x.test/1"),
        Said("inside"),
        Said("[image]"),
    ]


def test_a_tool_call_keeps_what_later_updates_leave_out() -> None:
    updates = Updates()
    diff = {"type": "diff", "path": "/w/a.py", "newText": "x"}
    output = {"type": "content", "content": {"type": "text", "text": "ok"}}
    begun = {"toolCallId": "c1", "title": "Edit a.py", "kind": "edit", "content": [diff]}
    first = updates.event({"sessionUpdate": "tool_call", **begun})
    second = updates.event(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
        | {"content": [output]}
    )
    assert first == UsedTool(
        "c1", "Edit a.py", "edit", "pending", "changes /w/a.py", paths=("/w/a.py",)
    )
    assert second == UsedTool("c1", "Edit a.py", "edit", "completed", "ok", paths=("/w/a.py",))


def test_tool_calls_that_never_end_are_forgotten_in_time() -> None:
    updates = Updates()
    for number in range(1500):
        updates.event({"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "T"})
    late = {"sessionUpdate": "tool_call_update", "toolCallId": "c0", "status": "completed"}
    assert updates.event(late) == UsedTool("c0", "c0", status="completed")


def test_plans_and_costs_are_read() -> None:
    updates = Updates()
    entries = [{"content": "look", "status": "completed", "priority": "low"}, {"content": "mend"}]
    cost = {"amount": 0.5, "currency": "USD"}
    assert updates.event({"sessionUpdate": "plan", "entries": entries}) == Planned(
        (("look", "completed"), ("mend", "pending"))
    )
    assert updates.event(
        {"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": cost}
    ) == Spent(0.5, "USD", 10, 100)


def test_an_update_that_nobody_knows_is_shown_but_not_at_any_length() -> None:
    event = Updates().event({"sessionUpdate": "notice", "text": "x" * 10_000})
    assert isinstance(event, Noticed)
    assert event.text.startswith('notice: {"text": "xxx')
    assert len(event.text) < 2100


def test_what_agents_tell_beside_their_work_is_a_readable_line() -> None:
    told: list[dict[str, Any]] = [
        {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "plan"}]},
        {"sessionUpdate": "available_commands_update", "availableCommands": []},
        {"sessionUpdate": "config_option_update"}
        | {"configOptions": [{"id": "model", "currentValue": "large", "options": []}]},
        {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
        {"sessionUpdate": "session_info_update", "title": "Mend the door"},
        {"sessionUpdate": "session_info_update", "_meta": {"state": "idle"}},
    ]
    assert [Updates().event(update) for update in told] == [
        Noticed("It has the commands plan"),
        Noticed("It has no commands"),
        Noticed("Its options are: model large"),
        Noticed("Its mode is plan"),
        Noticed("It calls the conversation: Mend the door"),
        Noticed('session_info_update: {"_meta": {"state": "idle"}}'),
    ]


def test_text_that_could_not_be_stored_is_made_fit() -> None:
    assert Updates().event(chunk({"type": "text", "text": "a\0b\ud800c"})) == Said(
        "a\ufffdb\ufffdc"
    )


@given(
    kind=st.sampled_from(KINDS + NOTICES),
    fields=st.dictionaries(st.sampled_from(FIELDS + NOTICE_FIELDS), JSON),
)
def test_no_update_is_so_odd_that_it_fails(kind: str, fields: dict[str, Any]) -> None:
    assert Updates().event({"sessionUpdate": kind, **fields}) is not None


def test_a_question_offers_only_what_can_be_chosen() -> None:
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_always"},
        {"optionId": "perhaps", "name": "Perhaps", "kind": "allow_someday"},
        {"name": "Nameless", "kind": "allow_once"},
    ]
    call: dict[str, Any] = {"toolCallId": "c1", "title": "rm -r /", "kind": "execute"}
    call |= {"rawInput": {"cmd": "rm"}, "locations": [{"path": "/"}]}
    request = permission_request({"toolCall": call, "options": options})
    assert (request.title, request.tool_kind, request.paths) == ("rm -r /", "execute", ("/",))
    assert [(option.id, option.kind) for option in request.options] == [
        ("yes", OptionKind.ALLOW_ONCE),
        ("no", OptionKind.REJECT_ALWAYS),
    ]
    assert request.details == {"cmd": "rm"}
    assert is_refusal(request, "no")
    assert not is_refusal(request, "yes")
    assert permission_request({}).options == ()


def test_only_what_was_interrupted_counts_as_cancelled() -> None:
    answer = {"stopReason": "cancelled"}
    assert stop_reason(answer, was_interrupted=True, was_refused=True) is StopReason.CANCELLED
    refused = stop_reason(answer, was_interrupted=False, was_refused=True)
    assert refused is StopReason.PERMISSION_REFUSED
    assert stop_reason(answer, was_interrupted=False, was_refused=False) is StopReason.OTHER


def test_usage_is_taken_as_far_as_it_makes_sense() -> None:
    assert usage({"usage": {"inputTokens": 3, "outputTokens": 4}}).total_tokens == 7
    assert usage({"usage": {"inputTokens": -3, "totalTokens": "many"}}).total_tokens == 0
    assert usage({}).total_tokens == 0


def test_usage_is_also_found_where_older_agents_tell_it() -> None:
    tokens = {"input_tokens": 3, "output_tokens": 4}
    told = usage({"stopReason": "end_turn", "_meta": {"quota": {"token_count": tokens}}})
    assert (told.input_tokens, told.output_tokens, told.total_tokens) == (3, 4, 7)
    assert usage({"_meta": {"quota": {"token_count": "many"}}}).total_tokens == 0
