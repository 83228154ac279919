"""What the fleet's tools refuse: each with its code, one sentence, the facts and a way out."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.requirements import requirement
from tests.support.mcp_fleets import McpFleet, fleet, repository_with

# Every tool that is about one agent, with what else it needs.
ABOUT_ONE: dict[str, dict[str, object]] = {
    "show_agent": {},
    "delete_agent": {},
    "restart_agent": {},
    "start_agent_task": {"task_description": "x"},
    "cancel_agent_task": {},
    "show_agent_task_history": {},
    "show_agent_log": {},
    "show_agent_diff": {},
    "question_list": {},
}


@pytest.fixture(scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[McpFleet]:
    """A fleet with one idle agent, "sony", and projects that offer few roles."""
    folder = tmp_path_factory.mktemp("fleet")
    site = {"repository": repository_with(folder / "site", None)}
    projects = {
        "Site": site,
        "Solo": site | {"roles": ["hasty"]},
        "Choice": site | {"roles": ["broken", "hasty"], "default_role": "hasty"},
        "Crowd": site | {"roles": ["broken", "hasty"]},
        "Gone": {"repository": str(folder / "nowhere")},
    }
    async with fleet(folder, projects=projects) as opened:
        await opened.idle("sony")
        yield opened


async def refused_fields(here: McpFleet, tool: str, /, **arguments: object) -> dict[str, str]:
    error = await here.refused(tool, **arguments)
    assert error["code"] == "INVALID_INPUT"
    return {item["field"]: item["problem"] for item in error["details"]["fields"]}


def new_agent(**changes: object) -> dict[str, Any]:
    return {"name": "papi", "project": "Site", "task": "/say ahoy", **changes}


@requirement("INV-MCP-001", "INV-MCP-003")
@pytest.mark.parametrize(
    "name",
    [
        "",
        "a" * 33,
        "a--b",
        "-a",
        "a-",
        "a_b",
        "a b",
        "ünï",
        "../a",
        "a\n",
        "new",
        "NEW",
        "create",
        "list",
        "start",
        "status",
        "bridge",
        "unbridge",
    ],
)
async def test_a_name_that_no_agent_may_have(here: McpFleet, name: str) -> None:
    assert list(await refused_fields(here, "create_agent", **new_agent(name=name))) == ["name"]


@pytest.mark.parametrize("name", ["a" * 32, "9", "A-1-b"])
async def test_a_name_within_the_limits_is_taken(here: McpFleet, name: str) -> None:
    created = await here.call("create_agent", **new_agent(name=name, role="broken"))
    assert created["agent"]["name"] == name
    await here.call("delete_agent", agent_name=name)


@pytest.mark.parametrize("task", ["", " ", "\n\t ", "\u00a0"])
async def test_a_blank_task(here: McpFleet, task: str) -> None:
    assert list(await refused_fields(here, "create_agent", **new_agent(task=task))) == ["task"]
    given = {"agent_name": "sony", "task_description": task}
    assert list(await refused_fields(here, "start_agent_task", **given)) == ["task_description"]


async def test_all_that_is_wrong_with_a_call_is_said_at_once(here: McpFleet) -> None:
    wrong = {"name": "a--b", "project": "", "task": 5, "colour": "red"}
    assert set(await refused_fields(here, "create_agent", **wrong)) == set(wrong)


@pytest.mark.parametrize("tool", ["create_agent", "list_agent_roles"])
async def test_an_unknown_project_lists_those_there_are(here: McpFleet, tool: str) -> None:
    more = new_agent() if tool == "create_agent" else {}
    error = await here.refused(tool, **more | {"project": "sit"})
    assert error["code"] == "NOT_FOUND"
    assert error["details"]["projects"] == ["Choice", "Crowd", "Gone", "Site", "Solo"]
    assert error["details"]["hint"] == "did you mean 'Site'?"
    far = await here.refused(tool, **more | {"project": "xyzzy"})
    assert "quarterdeck projects add" in far["details"]["hint"]


async def test_an_unknown_role_lists_those_of_the_project(here: McpFleet) -> None:
    error = await here.refused("create_agent", **new_agent(project="Choice", role="hastie"))
    assert error["code"] == "NOT_FOUND"
    assert error["details"]["roles"] == ["broken", "hasty"]
    assert error["details"]["hint"] == "did you mean 'hasty'?"


@pytest.mark.parametrize(("project", "which"), [("Solo", "only"), ("Choice", "default")])
@pytest.mark.parametrize("role", [None, "coder", "Coder"])
async def test_coder_means_the_role_that_a_project_has_instead(
    here: McpFleet, project: str, which: str, role: str | None
) -> None:
    created = await here.call("create_agent", **new_agent(project=project, role=role))
    assert created["agent"]["role"] == "hasty"
    assert f"so its {which} role 'hasty' was taken" in created["message"]
    await here.call("delete_agent", agent_name="papi")


async def test_coder_means_nothing_where_several_roles_could_be_meant(here: McpFleet) -> None:
    error = await here.refused("create_agent", **new_agent(project="Crowd"))
    assert (error["code"], error["details"]["roles"]) == ("NOT_FOUND", ["broken", "hasty"])


async def test_a_name_that_is_taken_in_another_case(here: McpFleet) -> None:
    error = await here.refused("create_agent", **new_agent(name="SONY"))
    assert error["code"] == "CONFLICT"
    assert error["details"]["name"] == "sony"
    assert "start_agent_task" in error["details"]["hint"]


async def test_a_program_that_is_not_installed_is_named_with_the_command_that_fetches_it(
    here: McpFleet,
) -> None:
    error = await here.refused("create_agent", **new_agent(role="absent"))
    assert error["code"] == "SERVICE_UNAVAILABLE"
    assert error["details"]["hint"] == "run 'quarterdeck roles install claude'"
    assert (await here.refused("show_agent", agent_name="papi"))["code"] == "NOT_FOUND"


async def test_a_repository_that_is_not_there_leaves_no_agent(here: McpFleet) -> None:
    error = await here.refused("create_agent", **new_agent(project="Gone"))
    assert error["code"] in {"NOT_FOUND", "INVALID_INPUT", "CONFLICT"}
    assert "hint" in error["details"]
    assert (await here.refused("show_agent", agent_name="papi"))["code"] == "NOT_FOUND"


@requirement("INV-MCP-003")
@pytest.mark.parametrize("tool", ABOUT_ONE)
async def test_an_agent_that_is_not_there_with_the_closest(here: McpFleet, tool: str) -> None:
    error = await here.refused(tool, agent_name="soni", **ABOUT_ONE[tool])
    assert (error["code"], error["message"]) == ("NOT_FOUND", "Agent 'soni' not found")
    assert error["details"] == {
        "agent_name": "soni",
        "closest": "sony",
        "hint": "did you mean 'sony'?",
    }
    far = await here.refused(tool, agent_name="xyzzy", **ABOUT_ONE[tool])
    assert far["details"]["hint"] == "list_agents shows all agents"


async def test_one_unknown_agent_of_several_to_wait_for(here: McpFleet) -> None:
    error = await here.refused("wait_for_agent", agent_names=["sony", "soni"])
    assert (error["code"], error["details"]["agent_name"]) == ("NOT_FOUND", "soni")


@pytest.mark.parametrize("tool", ABOUT_ONE)
@pytest.mark.parametrize("name", ["", "a" * 51, "-a", "a b", "ünï", "../a"])
async def test_a_name_that_nobody_can_have_is_no_name(here: McpFleet, tool: str, name: str) -> None:
    found = await refused_fields(here, tool, agent_name=name, **ABOUT_ONE[tool])
    assert list(found) == ["agent_name"]


async def test_lookups_take_any_case(here: McpFleet) -> None:
    assert (await here.call("show_agent", agent_name="SoNy"))["agent"]["name"] == "sony"


@pytest.mark.parametrize("status", ["sleeping", "", "IDLE", "Idle"])
async def test_an_unknown_status_filter(here: McpFleet, status: str) -> None:
    assert list(await refused_fields(here, "list_agents", status_filter=status)) == [
        "status_filter"
    ]


@pytest.mark.parametrize(
    ("tool", "argument", "values"),
    [
        ("show_agent_log", "page", [0, -1, "1", 1.5, True, 1_000_001]),
        ("show_agent_log", "page_size", [0, 101, "5", True, 5.5]),
        ("show_agent_task_history", "page", [0, -1, "1", True]),
        ("show_agent_task_history", "page_size", [0, 101, "5", True]),
        ("show_agent_diff", "page", [0, "1", True]),
        ("show_agent", "include_metadata", ["true", 1, 0, "no"]),
    ],
)
async def test_limits_hold_and_nothing_is_taken_for_something_else(
    here: McpFleet, tool: str, argument: str, values: list[object]
) -> None:
    for value in values:
        found = await refused_fields(here, tool, agent_name="sony", **{argument: value})
        assert list(found) == [argument], value


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("agent_names", [[], ["a"] * 51, "sony", [5], ["a b"]]),
        ("until", ["done", "", True]),
        ("timeout_seconds", [0, 51, "5", True, 1.5]),
    ],
)
async def test_limits_of_waiting(here: McpFleet, argument: str, values: list[object]) -> None:
    for value in values:
        wrong = {"agent_names": ["sony"], argument: value}
        found = await refused_fields(here, "wait_for_agent", **wrong)
        assert [field.split(".")[0].split("[")[0] for field in found] == [argument], value


async def test_a_flag_is_no_number_and_a_queue_no_text(here: McpFleet) -> None:
    given = {"agent_name": "sony", "task_description": "x", "queue": "yes"}
    assert list(await refused_fields(here, "start_agent_task", **given)) == ["queue"]


@pytest.mark.parametrize(
    ("tool", "argument", "closest"),
    [
        ("show_agent", "agent_nam", "agent_name"),
        ("list_agents", "status", "status_filter"),
        ("start_agent_task", "task_descripton", "task_description"),
        ("show_agent_log", "pagesize", "page_size"),
    ],
)
async def test_an_unknown_argument_with_the_closest(
    here: McpFleet, tool: str, argument: str, closest: str
) -> None:
    needed = {"agent_name": "sony", **ABOUT_ONE[tool]} if tool in ABOUT_ONE else {}
    found = await refused_fields(here, tool, **needed | {argument: "x"})
    assert f"{closest!r}" in found[argument]


async def test_an_unknown_tool_with_the_closest(here: McpFleet) -> None:
    error = (await here.client.call("list_agent")).error
    assert (error["code"], error["details"]["closest"]) == ("NOT_FOUND", "list_agents")


async def test_no_refusal_left_an_agent_behind(here: McpFleet) -> None:
    """The last of this file: whatever came before it changed nothing."""
    rows = (await here.call("list_agents"))["agents"]
    assert [row["name"] for row in rows] == ["sony"]
    assert len(await here.history("sony")) == 1
