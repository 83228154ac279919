"""Every answer of the fleet's tools has what the contract says, whatever state an agent is in."""

from collections.abc import AsyncIterator

import pytest

from tests.support.fleet_schemas import AGENT_DETAIL, AGENT_ROW, ANSWERS, complaints
from tests.support.mcp_fleets import Json, McpFleet, fleet, repository_with

TASKFILE = """
version: "3"
tasks:
  build:
    cmds: ["true"]
  number:
    desc: The number of the pull request.
    meta: {include_in_list: true}
    cmds: ["echo 42"]
  failing:
    meta: {include_in_list: false}
    cmds: ["exit 3"]
"""
# Where each agent stands, by the name it has.
STATES = {
    "starting": "starting",
    "bare": "idle",
    "rich": "idle",
    "busy": "busy",
    "asking": "busy",
    "failed": "failed",
}


@pytest.fixture(scope="module")
async def crew(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[McpFleet]:
    """One agent in each state; the tests only look at them."""
    folder = tmp_path_factory.mktemp("crew")
    projects = {
        "Site": {"repository": repository_with(folder / "site", None)},
        "Rich": {"repository": repository_with(folder / "rich", TASKFILE), "description": "New"},
    }
    async with fleet(folder, projects=projects) as opened:
        await opened.create("starting", role="silent")
        await opened.busy("busy")
        await opened.asking("asking")
        await opened.idle("bare", "/write a.txt ahoy\n/link https://example.org/1\n/usage 3 4 0.5")
        await opened.idle("rich", project="Rich")
        await opened.create("failed", role="broken")
        await opened.until("failed", "failed")
        await opened.idle("deleted")
        await opened.call("delete_agent", agent_name="deleted")
        yield opened


@pytest.fixture(params=STATES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_show_agent_has_every_field_in_every_state(crew: McpFleet, name: str) -> None:
    shown = (await crew.call("show_agent", agent_name=name))["agent"]
    assert (shown["name"], shown["status"]) == (name, STATES[name])


async def test_list_agents_has_every_field_of_all_of_them_newest_first(crew: McpFleet) -> None:
    listed = await crew.call("list_agents")
    rows = {row["name"]: row["status"] for row in listed["agents"]}
    assert rows == STATES
    assert listed["total_count"] == len(STATES)
    assert list(rows) == ["failed", "rich", "bare", "asking", "busy", "starting"]


async def test_a_filter_leaves_those_of_a_status_or_a_project(crew: McpFleet) -> None:
    for status in ("idle", "busy", "starting", "failed", "stopped"):
        listed = await crew.call("list_agents", status_filter=status)
        assert {row["name"] for row in listed["agents"]} == {
            name for name, stands in STATES.items() if stands == status
        }
    rich = await crew.call("list_agents", project_filter="rICH", status_filter="idle")
    assert [(row["name"], row["project"]) for row in rich["agents"]] == [("rich", "Rich")]


async def test_an_unknown_project_filter_gives_an_empty_list(crew: McpFleet) -> None:
    assert await crew.call("list_agents", project_filter="Nowhere") == {
        "agents": [],
        "total_count": 0,
    }


async def test_history_log_diff_and_wait_have_every_field(crew: McpFleet, name: str) -> None:
    history = await crew.call("show_agent_task_history", agent_name=name)
    assert history["total_count"] == 1
    await crew.call("show_agent_log", agent_name=name, page_size=100)
    if name != "starting":  # its workspace may not be made yet
        await crew.call("show_agent_diff", agent_name=name)
    waited = await crew.call("wait_for_agent", agent_names=[name], timeout_seconds=1)
    assert waited["timed_out"] is (name in ("starting", "busy"))


async def test_what_an_agent_reported_is_in_its_record(crew: McpFleet) -> None:
    shown = (await crew.call("show_agent", agent_name="bare"))["agent"]
    assert shown["last_report"] == "See https://example.org/1"
    assert shown["usage"]["total_tokens"] == 7
    [task] = await crew.history("bare")
    assert task["uri"] == "https://example.org/1"
    assert (task["state"], task["files"]) == ("done", ["a.txt"])
    assert task["branch"] == shown["branch"]


async def test_an_open_question_is_visible_wherever_its_agent_is(crew: McpFleet) -> None:
    [question] = (await crew.call("question_list"))["questions"]
    for shown in (
        await crew.show("asking"),
        *(await crew.call("list_agents", status_filter="busy"))["agents"],
        *(await crew.call("wait_for_agent", agent_names=["asking"]))["agents"],
    ):
        asked = shown.get("waiting_for", {"question_id": None})
        is_asking = shown["name"] == "asking"
        assert asked["question_id"] == (question["question_id"] if is_asking else None)
    [task] = await crew.history("asking")
    assert task["needs_user_attention"] is True
    assert "WARN" in {entry["level"] for entry in await crew.log("asking")}


async def test_a_failed_agent_says_why(crew: McpFleet) -> None:
    shown = await crew.show("failed")
    assert "exit code 3" in shown["reason"]
    [task] = await crew.history("failed")
    assert task["state"] == "failed"
    assert "ERROR" in {entry["level"] for entry in await crew.log("failed")}


async def test_a_deleted_agent_is_listed_only_when_it_is_asked_for(crew: McpFleet) -> None:
    gone = await crew.call("list_agents", status_filter="deleted")
    assert [(row["name"], row["metadata_skipped"]) for row in gone["agents"]] == [("deleted", True)]
    assert "deleted" not in {row["name"] for row in (await crew.call("list_agents"))["agents"]}


async def test_projects_and_roles_have_the_ids_that_agents_go_by(crew: McpFleet) -> None:
    projects = (await crew.call("list_agent_projects"))["projects"]
    assert [(each["name"], each["description"]) for each in projects] == [
        ("Rich", "New"),
        ("Site", ""),
    ]
    roles = await crew.call("list_agent_roles", project="site")
    assert roles["project"] == "Site"
    assert {role["project_id"] for role in roles["roles"]} == {projects[1]["id"]}
    again = await crew.call("list_agent_projects")
    assert again["projects"] == projects


async def test_only_the_values_that_are_meant_for_lists_are_in_lists(crew: McpFleet) -> None:
    [row] = (await crew.call("list_agents", project_filter="Rich"))["agents"]
    assert (row["metadata_count"], row["metadata"]) == (2, {"number": 42})
    shown = (await crew.call("show_agent", agent_name="rich"))["agent"]
    assert shown["metadata"]["number"] == {
        "value": 42,
        "error": None,
        "schema": {"description": "The number of the pull request.", "include_in_list": True},
    }


def test_the_schemas_find_what_is_missing_or_of_another_kind() -> None:
    for schema in ANSWERS.values():
        assert complaints(schema, {})
    row: Json = {
        "metadata": {"pr": {"value": 1, "error": None, "schema": {}}},
        "status": "sleeping",
    }
    found = " ".join(complaints(AGENT_ROW, row))
    assert "'sleeping'" in found
    assert "$.metadata.pr" in found
    assert "'last_task' is a required property" in found
    both: Json = {"value": 1, "error": "no", "schema": {"description": "", "include_in_list": True}}
    assert any("pr" in each for each in complaints(AGENT_DETAIL, {"metadata": {"pr": both}}))
