"""Agents deleted and restarted as the contract says: in every state, with nothing lost."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.support.git import git
from tests.support.mcp_fleets import McpFleet, fleet


@pytest.fixture(scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[McpFleet]:
    """A fleet in which each test has agents of its own."""
    async with fleet(tmp_path_factory.mktemp("fleet")) as opened:
        yield opened


async def bring_to(here: McpFleet, name: str, status: str) -> None:
    """Create an agent and let it get where it is wanted."""
    match status:
        case "starting":
            await here.create(name, role="silent")
        case "idle":
            await here.idle(name)
        case "busy":
            await here.busy(name)
        case "asking":
            await here.asking(name)
        case "failed":
            await here.create(name, role="broken")
            await here.until(name, "failed")
        case "just created":
            await here.create(name)
        case _:
            raise ValueError(status)


STATES = ["just created", "starting", "idle", "busy", "asking", "failed"]


@pytest.mark.parametrize("status", STATES)
async def test_an_agent_is_deleted_in_every_state_and_its_name_is_free_at_once(
    here: McpFleet, status: str
) -> None:
    name = f"doomed-{status.replace(' ', '-')}"
    await bring_to(here, name, status)
    workspace = anyio.Path((await here.show(name))["workspace"])

    deleted = await here.call("delete_agent", agent_name=name.upper())
    assert (deleted["agent_name"], deleted["status"]) == (name, "deleted")
    assert deleted["message"].startswith(f"Agent {name!r} deleted successfully")
    assert not await workspace.exists()
    assert (await here.refused("show_agent", agent_name=name))["code"] == "NOT_FOUND"
    assert (await here.refused("delete_agent", agent_name=name))["code"] == "NOT_FOUND"

    again = await here.create(name)
    assert again["agent"]["workspace_id"] != deleted["workspace_id"]
    await here.until(name, "idle")
    await here.call("delete_agent", agent_name=name)


async def test_a_deleted_agent_leaves_the_lists_and_its_history_stays(here: McpFleet) -> None:
    await here.idle("former", "/say remember me")
    await here.call("delete_agent", agent_name="former")
    listed = (await here.call("list_agents", include_metadata=False))["agents"]
    assert "former" not in {row["name"] for row in listed}
    gone = (await here.call("list_agents", status_filter="deleted"))["agents"]
    assert "former" in {row["name"] for row in gone}

    assert [task["message"] for task in await here.history("former")] == ["/say remember me"]
    assert "remember me" in [entry["message"] for entry in await here.log("former")]
    for tool in ("restart_agent", "cancel_agent_task", "show_agent_diff"):
        assert (await here.refused(tool, agent_name="former"))["code"] == "NOT_FOUND"


async def test_the_history_of_a_name_is_that_of_the_agent_who_has_it_now(here: McpFleet) -> None:
    await here.idle("heir", "/say the first")
    await here.call("delete_agent", agent_name="heir")
    await here.idle("heir", "/say the second")
    assert [task["message"] for task in await here.history("heir")] == ["/say the second"]


async def test_work_that_exists_nowhere_else_is_on_the_branch_that_the_message_names(
    here: McpFleet,
) -> None:
    task = "/write new.txt never added\n/run echo more >> story.txt"
    await here.idle("diligent", task)
    deleted = await here.call("delete_agent", agent_name="diligent")
    branch = deleted["saved_branch"]
    assert f"kept on the branch {branch!r}" in deleted["message"]
    site = here.folder / "site"
    assert git(site, "show", f"{branch}:new.txt") == "never added"
    assert git(site, "show", f"{branch}:story.txt").endswith("more")


async def test_an_agent_without_work_of_its_own_leaves_no_branch(here: McpFleet) -> None:
    await here.idle("lazy")
    deleted = await here.call("delete_agent", agent_name="lazy")
    assert "saved_branch" not in deleted
    assert "branch" not in deleted["message"]
    assert "lazy" not in git(here.folder / "site", "branch", "--list")


async def test_a_restart_keeps_name_workspace_history_and_conversation(here: McpFleet) -> None:
    before = await here.idle("lasting", "/write kept.txt here\n/say first")
    restarted = await here.call("restart_agent", agent_name="LASTING")
    assert restarted["message"].startswith("Agent 'lasting' restart initiated")
    assert (restarted["agent_name"], restarted["status"]) == ("lasting", "starting")
    assert restarted["workspace_id"] == before["workspace_id"]

    after = await here.until("lasting", "idle")
    for field in ("name", "workspace_id", "workspace", "branch", "created_at", "last_task"):
        assert after[field] == before[field], field
    assert (Path(after["workspace"]) / "kept.txt").read_text(encoding="utf-8") == "here\n"
    assert [task["state"] for task in await here.history("lasting")] == ["done"]
    await here.call("start_agent_task", agent_name="lasting", task_description="/say second")
    await here.until("lasting", "idle")
    said = [entry["message"] for entry in await here.log("lasting")]
    assert said.index("second") < said.index("first")


async def test_a_busy_agent_is_restarted_and_its_task_canceled(here: McpFleet) -> None:
    await here.busy("stuck")
    await here.call("restart_agent", agent_name="stuck")
    await here.until("stuck", "idle")
    [task] = await here.history("stuck")
    assert (task["state"], task["result"]) == ("canceled", "the agent was restarted")


async def test_a_question_is_withdrawn_by_a_restart(here: McpFleet) -> None:
    question = await here.asking("curious")
    await here.call("restart_agent", agent_name="curious")
    shown = await here.until("curious", "idle")
    assert "waiting_for" not in shown
    error = await here.refused(
        "question_answer", question_id=question["question_id"], kind="allow_once"
    )
    assert (error["code"], error["details"]["state"]) == ("CONFLICT", "withdrawn")


async def test_a_failed_agent_is_started_again_and_fails_again(here: McpFleet) -> None:
    await here.create("hopeless", role="broken")
    await here.until("hopeless", "failed")
    restarted = await here.call("restart_agent", agent_name="hopeless")
    assert restarted["status"] == "starting"
    shown = await here.until("hopeless", "failed")
    assert "exit code 3" in shown["reason"]


async def test_an_agent_that_is_starting_is_started_again(here: McpFleet) -> None:
    await here.create("mute", role="silent")
    restarted = await here.call("restart_agent", agent_name="mute")
    assert restarted["status"] == "starting"
    await here.call("delete_agent", agent_name="mute")


async def test_waiting_wakes_on_an_end_on_a_change_and_on_a_question(here: McpFleet) -> None:
    gate = await here.busy("awaited")
    still = await here.call("wait_for_agent", agent_names=["awaited"], timeout_seconds=1)
    assert (still["timed_out"], still["agents"][0]["status"]) == (True, "busy")
    gate.touch()
    done = await here.call("wait_for_agent", agent_names=["Awaited"])
    assert (done["timed_out"], done["agents"][0]["status"]) == (False, "idle")

    text = "/ask May I?"
    await here.call("start_agent_task", agent_name="awaited", task_description=text)
    for until in ("question", "idle", "changed"):
        woken = await here.call("wait_for_agent", agent_names=["awaited"], until=until)
        assert woken["timed_out"] is False
        assert woken["agents"][0]["waiting_for"]["title"] == "May I?"
    await here.call("delete_agent", agent_name="awaited")
