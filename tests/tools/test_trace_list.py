from datetime import datetime

import anyio
from dirty_equals import IsStr, IsUUID

from quarterdeck.testing import Deck, FixedClock
from tests.support.clients import ToolClient, connected
from tests.support.workshop import Workshop, server_with, workshop_tools


async def test_a_row_says_what_was_called_and_how_it_ended(
    client: ToolClient, clock: FixedClock
) -> None:
    before = clock.now()
    await client.answer("memory_store", key="k", value={})
    [row] = (await client.answer("trace_list"))["traces"]
    started, ended = (datetime.fromisoformat(row[name]) for name in ("startTime", "endTime"))
    assert before < started <= ended < clock.now()
    assert row == {
        "traceId": IsUUID,
        "workflowId": "mcp.memory_store",
        "startTime": IsStr(regex=r".*Z"),
        "endTime": IsStr(regex=r".*Z"),
        "status": "success",
        "eventCount": 4,
        "durationMs": (ended - started).total_seconds() * 1000,
        "actor": IsStr(regex=r".+/.+"),
        "surface": "mcp",
    }


async def test_the_newest_call_comes_first_and_each_call_is_one_row(client: ToolClient) -> None:
    await client.answer("memory_store", key="k", value={})
    await client.refusal("memory_retrieve", key=5)
    await client.call("no_such_tool")
    await client.answer("trace_list")
    rows = (await client.answer("trace_list"))["traces"]
    assert [(row["workflowId"], row["status"], row["eventCount"]) for row in rows] == [
        ("mcp.trace_list", "success", 4),
        ("mcp.no_such_tool", "failure", 5),
        ("mcp.memory_retrieve", "failure", 5),
        ("mcp.memory_store", "success", 4),
    ]


async def test_a_status_narrows_the_list(client: ToolClient) -> None:
    await client.answer("memory_store", key="k", value={})
    await client.call("no_such_tool")
    for status, workflows in {
        "failure": ["mcp.no_such_tool"],
        "running": [],
        "success": ["mcp.trace_list", "mcp.trace_list", "mcp.memory_store"],
        None: ["mcp.trace_list"] * 3 + ["mcp.no_such_tool", "mcp.memory_store"],
    }.items():
        rows = (await client.answer("trace_list", status=status))["traces"]
        assert [row["workflowId"] for row in rows] == workflows


async def test_work_that_goes_on_is_running_and_has_no_end_yet(
    client: ToolClient, deck: Deck
) -> None:
    workshop = Workshop(deck)
    server = server_with(deck, workshop_tools(workshop))
    async with connected(server) as builder, anyio.create_task_group() as tasks:
        tasks.start_soon(builder.answer, "build")
        await workshop.entered.wait()
        [row] = (await client.answer("trace_list", status="running"))["traces"]
        assert (row["workflowId"], row["status"], row["eventCount"]) == ("mcp.build", "running", 2)
        assert "endTime" not in row
        workshop.released.set()
    _, ended = (await client.answer("trace_list", status="success"))["traces"]
    assert (ended["workflowId"], ended["eventCount"]) == ("mcp.build", 4)
    assert "endTime" in ended


async def test_work_inside_a_call_is_no_row_of_its_own(client: ToolClient, deck: Deck) -> None:
    async with connected(server_with(deck, workshop_tools(Workshop(deck)))) as nester:
        await nester.answer("nest", key="k")
    rows = (await client.answer("trace_list"))["traces"]
    assert [row["workflowId"] for row in rows] == ["mcp.nest"]


async def test_ten_traces_come_back_unless_another_limit_is_set(client: ToolClient) -> None:
    for _ in range(101):
        await client.answer("memory_retrieve", key="k")
    for arguments, count in (
        ({}, 10),
        ({"limit": None}, 10),
        ({"limit": 1}, 1),
        ({"limit": 100}, 100),
    ):
        assert len((await client.answer("trace_list", **arguments))["traces"]) == count


async def test_arguments_outside_their_limits_are_refused_and_not_clamped(
    client: ToolClient,
) -> None:
    for arguments, field in [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "5"}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 5.5}, "limit"),
        ({"status": "failed"}, "status"),
        ({"status": "SUCCESS"}, "status"),
        ({"status": ""}, "status"),
        ({"status": 1}, "status"),
        ({"state": "success"}, "state"),
    ]:
        assert list(await client.refusal("trace_list", **arguments)) == [field]
