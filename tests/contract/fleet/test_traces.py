"""Every call of a fleet tool is one root trace, however long its work goes on afterwards."""

from pathlib import Path

from quarterdeck.domain.trace import EventType, TraceStatus
from tests.requirements import requirement
from tests.support.mcp_fleets import McpFleet, fleet
from tests.support.records import newest_trace, payload_of, root_traces

SONY: dict[str, object] = {"agent_name": "sony"}
# In this order: each call finds the agent as the one before it left it.
LIFE: list[tuple[str, dict[str, object], bool]] = [
    ("list_agent_projects", {}, True),
    ("list_agent_roles", {"project": "site"}, True),
    ("create_agent", {"name": "sony", "project": "Site", "task": "/say ahoy"}, True),
    ("create_agent", {"name": "SONY", "project": "Site", "task": "/say ahoy"}, False),
    ("create_agent", {"name": "a--b", "project": "Site", "task": "/say ahoy"}, False),
    ("wait_for_agent", {"agent_names": ["sony"]}, True),
    ("list_agents", {}, True),
    ("show_agent", SONY, True),
    ("cancel_agent_task", SONY, False),
    ("start_agent_task", {**SONY, "task_description": "/hang"}, True),
    ("start_agent_task", {**SONY, "task_description": "/hang"}, False),
    ("cancel_agent_task", SONY, True),
    ("show_agent_task_history", SONY, True),
    ("show_agent_log", SONY, True),
    ("show_agent_diff", SONY, True),
    ("question_list", {}, True),
    ("question_answer", {"question_id": "nobody", "kind": "allow_once"}, False),
    ("restart_agent", SONY, True),
    ("delete_agent", SONY, True),
    ("delete_agent", SONY, False),
]


async def call_and_look(here: McpFleet, tool: str, arguments: dict[str, object]) -> bool:
    """Call a tool, look at its trace, and return whether the call succeeded."""
    reply = await here.reply(tool, **arguments)
    trace = await newest_trace(here.deck)
    assert trace.workflow_id == f"mcp.{tool}"
    assert payload_of(trace, EventType.TOOL_INVOKE)["input"] == arguments
    if reply.is_error:
        assert trace.status is TraceStatus.FAILURE
        assert payload_of(trace, EventType.ERROR)["code"] == reply.error["code"]
    else:
        assert trace.status is TraceStatus.SUCCESS
        assert payload_of(trace, EventType.TOOL_RESULT)["output"] == reply.answer
    return not reply.is_error


@requirement("INV-MCP-007", "INV-MCP-008")
async def test_each_call_of_an_agents_life_is_one_finished_trace(
    tmp_path: Path, database_url: str | None
) -> None:
    async with fleet(tmp_path, database_url=database_url) as here:
        for number, (tool, arguments, succeeds) in enumerate(LIFE, start=1):
            assert await call_and_look(here, tool, arguments) is succeeds, (number, tool)
            assert len(await root_traces(here.deck)) == number, tool
