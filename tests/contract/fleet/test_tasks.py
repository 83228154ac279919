"""Tasks as the contract has them: given, refused, queued, canceled, kept."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from quarterdeck.testing import Reply
from tests.support.clients import connected
from tests.support.mcp_fleets import McpFleet, fleet


@pytest.fixture(scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[McpFleet]:
    """A fleet in which each test has agents of its own."""
    async with fleet(tmp_path_factory.mktemp("fleet")) as opened:
        yield opened


@pytest.fixture
async def own(tmp_path: Path, database_url: str | None) -> AsyncIterator[McpFleet]:
    """A fleet of the test's own, once on each database."""
    async with fleet(tmp_path, database_url=database_url) as opened:
        yield opened


async def start(here: McpFleet, name: str, text: str = "/say more", **more: object) -> Reply:
    return await here.reply("start_agent_task", agent_name=name, task_description=text, **more)


async def test_the_first_task_is_sent_once_the_agent_is_ready(here: McpFleet) -> None:
    created = await here.create("first", "/say ahoy")
    assert created["agent"]["status"] == "starting"
    assert created["agent"]["last_task"] == "/say ahoy"
    assert created["message"] == "Agent 'first' created successfully"
    waited = await here.call("wait_for_agent", agent_names=["first"])
    assert waited["agents"][0]["last_report"] == "ahoy"


async def test_an_idle_agent_takes_a_task(here: McpFleet) -> None:
    await here.idle("willing")
    given = (await start(here, "WILLING", "/say more")).answer
    assert (given["agent_name"], given["task"]["message"]) == ("willing", "/say more")
    assert given["message"] == "Task assigned to agent 'willing'"
    shown = await here.until("willing", "idle")
    assert (shown["last_task"], shown["last_report"]) == ("/say more", "more")


async def test_a_busy_agent_takes_none_unless_it_may_wait(here: McpFleet) -> None:
    gate = await here.busy("occupied")
    error = (await start(here, "occupied")).error
    assert error["code"] == "CONFLICT"
    assert error["details"]["task"].startswith("/say at work")
    assert "queue" in error["details"]["hint"]

    queued = (await start(here, "occupied", queue=True)).answer
    assert queued["task"]["state"] == "queued"
    assert queued["message"] == "Task queued for agent 'occupied'"
    gate.touch()
    await here.until("occupied", "idle")
    assert [task["state"] for task in await here.history("occupied")] == ["done", "done"]
    texts = [entry["message"] for entry in reversed(await here.log("occupied"))]
    assert texts.index("at work") < texts.index("more")


async def test_an_agent_that_is_not_online_takes_none(here: McpFleet) -> None:
    await here.create("early", role="silent")
    await here.create("dead", role="broken")
    await here.until("dead", "failed")
    for name, status, way_out in (
        ("early", "starting", "wait"),
        ("dead", "failed", "restart_agent"),
    ):
        for queue in (False, True):
            error = (await start(here, name, queue=queue)).error
            assert (error["code"], error["details"]["status"]) == ("INVALID_INPUT", status)
            assert way_out in error["details"]["hint"]
    await here.call("delete_agent", agent_name="early")


async def test_of_many_tasks_given_at_once_exactly_one_is_taken(own: McpFleet) -> None:
    await own.idle("sony")
    gate, replies = own.gate("sony"), list[Reply]()

    async def give(number: int) -> None:
        async with connected(own.deck.server) as client:
            text = f"/say {number}\n/wait {gate}"
            given = {"agent_name": "sony", "task_description": text}
            replies.append(await client.call("start_agent_task", **given))

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(give, number)

    won = [reply.answer["task"]["message"] for reply in replies if not reply.is_error]
    assert len(won) == 1
    assert {reply.error["code"] for reply in replies if reply.is_error} == {"CONFLICT"}
    gate.touch()
    await own.until("sony", "idle")
    assert [task["message"] for task in await own.history("sony")] == [*won, "/say ahoy"]


async def test_of_many_agents_of_one_name_exactly_one_is_created(own: McpFleet) -> None:
    replies: list[Reply] = []

    async def create(name: str) -> None:
        async with connected(own.deck.server) as client:
            new = {"name": name, "project": "Site", "task": f"/say {name}"}
            replies.append(await client.call("create_agent", **new))

    async with anyio.create_task_group() as tasks:
        for name in ("sony", "Sony", "SONY", "sOny"):
            tasks.start_soon(create, name)

    [name] = [reply.answer["agent"]["name"] for reply in replies if not reply.is_error]
    assert {reply.error["code"] for reply in replies if reply.is_error} == {"CONFLICT"}
    rows = (await own.call("list_agents"))["agents"]
    assert [row["name"] for row in rows] == [name]
    await own.until(name, "idle")
    assert len(list((own.folder / "home" / "workspaces").iterdir())) == 1


async def test_a_canceled_agent_stops_stays_and_takes_the_next_task(here: McpFleet) -> None:
    await here.busy("halted")
    canceled = await here.call("cancel_agent_task", agent_name="Halted")
    assert canceled == {
        "agent_name": "halted",
        "message": "Interrupt signal sent to agent 'halted'",
        "interrupt_sent": True,
        "stopped": True,
    }
    assert not (await start(here, "halted")).is_error, "at once"
    await here.until("halted", "idle")
    assert [task["state"] for task in await here.history("halted")] == ["done", "canceled"]


async def test_a_task_that_has_only_been_given_is_canceled_too(here: McpFleet) -> None:
    await here.idle("sudden")
    for _ in range(5):
        await start(here, "sudden", "/hang")
        assert (await here.call("cancel_agent_task", agent_name="sudden"))["stopped"] is True
    states = [task["state"] for task in await here.history("sudden")]
    assert states == ["canceled"] * 5 + ["done"]


async def test_canceling_leaves_what_waits_behind(here: McpFleet) -> None:
    await here.busy("patient")
    await start(here, "patient", "/say next", queue=True)
    await here.call("cancel_agent_task", agent_name="patient")
    await here.until("patient", "idle")
    assert [task["state"] for task in await here.history("patient")] == ["done", "canceled"]


async def test_an_agent_that_does_not_work_has_nothing_to_cancel(here: McpFleet) -> None:
    await here.idle("calm")
    await here.create("slow", role="silent")
    await here.create("down", role="broken")
    await here.until("down", "failed")
    for name, status in (("calm", "idle"), ("slow", "starting"), ("down", "failed")):
        error = await here.refused("cancel_agent_task", agent_name=name)
        assert (error["code"], error["details"]["status"]) == ("INVALID_INPUT", status)
        assert "hint" in error["details"]
    await here.call("delete_agent", agent_name="slow")


async def test_a_task_that_crashes_its_agent_is_failed_and_the_log_says_so(
    here: McpFleet,
) -> None:
    await here.create("unlucky", "/say so far\n/crash 7")
    with anyio.fail_after(30):
        while not (tasks := await here.history("unlucky")) or tasks[0]["state"] != "failed":
            await here.call("wait_for_agent", agent_names=["unlucky"], timeout_seconds=1)
    assert "exit code 7" in tasks[0]["result"]
    levels = {entry["level"]: entry["message"] for entry in await here.log("unlucky")}
    assert "exit code 7" in levels["ERROR"]
    await here.until("unlucky", "idle")  # it was started again


async def test_pages_are_newest_first_never_overlap_and_end_empty(here: McpFleet) -> None:
    await here.idle("wordy", "/say 0")
    for number in range(1, 5):
        await start(here, "wordy", f"/say {number}")
        await here.until("wordy", "idle")

    async def page(number: int, size: int) -> tuple[list[str], bool, bool]:
        shown = await here.call(
            "show_agent_task_history", agent_name="wordy", page=number, page_size=size
        )
        assert (shown["total_count"], shown["page"], shown["page_size"]) == (5, number, size)
        texts = [task["message"] for task in shown["tasks"]]
        return texts, shown["has_previous_page"], shown["has_next_page"]

    assert await page(1, 2) == (["/say 4", "/say 3"], False, True)
    assert await page(2, 2) == (["/say 2", "/say 1"], True, True)
    assert await page(3, 2) == (["/say 0"], True, False)
    assert await page(4, 2) == ([], True, False)
    assert await page(1_000_000, 100) == ([], True, False)


async def test_the_log_shows_the_newest_entry_unless_more_is_asked_for(here: McpFleet) -> None:
    await here.idle("terse", "/say one\n/run echo two\n/say three")
    newest = await here.call("show_agent_log", agent_name="terse")
    assert [entry["message"] for entry in newest["logs"]] == ["three"]
    assert (newest["page"], newest["page_size"]) == (1, 1)
    assert (newest["has_next_page"], newest["has_previous_page"]) == (True, False)
    total = newest["total_count"]

    everything = await here.log("terse")
    assert len(everything) == total
    assert [entry["timestamp"] for entry in everything] == sorted(
        (entry["timestamp"] for entry in everything), reverse=True
    )
    singles = [
        (await here.call("show_agent_log", agent_name="terse", page=number))["logs"][0]
        for number in range(1, total + 1)
    ]
    assert singles == everything
    beyond = await here.call("show_agent_log", agent_name="terse", page=total + 1)
    assert (beyond["logs"], beyond["has_previous_page"], beyond["has_next_page"]) == (
        [],
        True,
        False,
    )


async def test_the_pieces_of_one_message_are_one_entry(here: McpFleet) -> None:
    await here.idle("pieces", "/say a long sentence that is said in several pieces\n/run true")
    log = await here.log("pieces")
    said = [entry for entry in log if entry["message"].startswith("a long sentence")]
    assert [entry["message"] for entry in said] == [
        "a long sentence that is said in several pieces"
    ]
    assert (said[0]["level"], said[0]["role"]) == ("INFO", "agent")
    assert "DEBUG" in {entry["level"] for entry in log}


async def test_a_notice_in_the_middle_of_a_message_does_not_cut_the_result(
    here: McpFleet,
) -> None:
    await here.idle("noticed", "/say The do\n/unknown title\n/say or is mended")
    [task] = await here.history("noticed")
    assert task["result"] == "The door is mended"


async def test_a_task_costs_what_it_added_also_after_a_restart(here: McpFleet) -> None:
    await here.idle("thrifty", "/usage 10 5 0.25")
    await here.call("restart_agent", agent_name="thrifty")
    await here.until("thrifty", "idle")
    # The agent goes on with its conversation, and reports what all of it has cost.
    await start(here, "thrifty", "/usage 20 5 0.5")
    await here.until("thrifty", "idle")
    second, first = await here.history("thrifty")
    assert (first["usage"]["cost"], second["usage"]["cost"]) == (0.25, 0.5)
    total = (await here.show("thrifty"))["usage"]
    assert (total["cost"], total["currency"], total["total_tokens"]) == (0.75, "USD", 40)


async def test_the_diff_comes_by_pages_with_what_was_never_committed(here: McpFleet) -> None:
    await here.idle("author", "/run seq 1 9000 > numbers.txt\n/write b.txt x")
    pages: list[str] = []
    page = 1
    while True:
        shown = await here.call("show_agent_diff", agent_name="author", page=page)
        assert {file["path"] for file in shown["files"]} == {"numbers.txt", "b.txt"}
        pages.append(shown["patch"])
        if not shown["has_next_page"]:
            break
        page += 1
    assert page == shown["total_pages"] > 1
    assert "".join(pages).count("\n+") >= 9001
    beyond = await here.call("show_agent_diff", agent_name="author", page=page + 1)
    assert (beyond["patch"], beyond["has_next_page"]) == ("", False)
