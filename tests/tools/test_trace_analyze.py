from datetime import timedelta
from typing import Any

import anyio
from dirty_equals import IsStr, IsUUID

from quarterdeck.domain.effect import Effect
from quarterdeck.services.operation import Operation, operation
from quarterdeck.testing import Deck, FixedClock
from quarterdeck.tools.registry import Toolset
from tests.support.clients import ToolClient, connected
from tests.support.workshop import Made, Workshop, server_with, workshop_tools


async def newest_analysis(client: ToolClient) -> dict[str, Any]:
    trace_id = (await client.answer("trace_list", limit=1))["traces"][0]["traceId"]
    return await client.answer("trace_analyze", traceId=trace_id)


async def test_a_good_call_has_one_step_and_nothing_to_complain_of(client: ToolClient) -> None:
    await client.answer("memory_store", key="k", value={})
    assert await newest_analysis(client) == {
        "traceId": IsUUID,
        "summary": "mcp.memory_store with 1 finished step succeeded in 1.0 ms",
        "performance": {
            "totalDuration": 1.0,
            "averageStepDuration": 1.0,
            "slowestStep": {"stepId": IsUUID, "stepName": "mcp.memory_store", "durationMs": 1.0},
        },
        "issues": [],
        "recommendations": [],
        "metrics": {"stepCount": 1, "successRate": 1.0, "errorCount": 0},
    }


async def test_a_failed_call_shows_its_error_and_what_to_do(client: ToolClient) -> None:
    await client.call("trace_get", traceId="nowhere")
    analysis = await newest_analysis(client)
    assert analysis["summary"] == IsStr(
        regex=r"mcp\.trace_get with 1 finished step failed in .* ms with 1 error"
    )
    assert analysis["metrics"] == {"stepCount": 1, "successRate": 0.0, "errorCount": 1}
    assert analysis["issues"] == [
        {"type": "TRACE_NOT_FOUND", "message": "Trace 'nowhere' not found", "severity": "error"}
    ]
    assert analysis["recommendations"] == [
        {
            "type": "read_errors",
            "message": f"Read the error events with trace_get {analysis['traceId']}",
            "severity": "info",
        }
    ]


async def test_work_that_goes_on_is_called_incomplete(client: ToolClient, deck: Deck) -> None:
    workshop = Workshop(deck)
    server = server_with(deck, workshop_tools(workshop))
    async with connected(server) as builder, anyio.create_task_group() as tasks:
        tasks.start_soon(builder.answer, "build")
        await workshop.entered.wait()
        analysis = await newest_analysis(client)
        assert analysis["summary"] == "mcp.build with 0 finished steps is still running"
        assert analysis["performance"] == {"totalDuration": 0.0, "averageStepDuration": 0.0}
        assert analysis["metrics"] == {"stepCount": 0, "successRate": 0.0, "errorCount": 0}
        assert [issue["type"] for issue in analysis["issues"]] == ["incomplete"]
        workshop.released.set()


class Kitchen:
    """Nested work that takes its time by the test's clock."""

    def __init__(self, deck: Deck, clock: FixedClock) -> None:
        self.operations = deck.quarterdeck.memory.operations
        self._clock = clock

    @operation("kitchen.dinner", Effect.WRITE)
    async def dinner(self, _op: Operation) -> Made:
        await self.course(2)
        await self.course(9)
        return Made(text="served")

    @operation("kitchen.course", Effect.WRITE)
    async def course(self, _op: Operation, seconds: int) -> Made:
        self._clock.advance(timedelta(seconds=seconds))
        return Made(text="eaten")


async def test_slow_work_inside_a_call_is_pointed_out(
    client: ToolClient, deck: Deck, clock: FixedClock
) -> None:
    kitchen, tools = Kitchen(deck, clock), Toolset("kitchen")

    @tools.tool(Effect.WRITE)
    async def dinner() -> Made:
        return await kitchen.dinner()

    async with connected(server_with(deck, tools)) as guest:
        await guest.answer("dinner")
    analysis = await newest_analysis(client)
    assert analysis["performance"] == {
        "totalDuration": 11002.0,
        "averageStepDuration": 5500.0,
        "slowestStep": {"stepId": IsUUID, "stepName": "kitchen.course", "durationMs": 9000.0},
    }
    assert analysis["metrics"] == {"stepCount": 2, "successRate": 1.0, "errorCount": 0}
    assert [issue["type"] for issue in analysis["issues"]] == ["slow_trace"]
    assert [advice["message"] for advice in analysis["recommendations"]] == [
        "kitchen.course took 9.0 s; look there first"
    ]


async def test_an_unknown_id_is_not_found(client: ToolClient) -> None:
    error = (await client.call("trace_analyze", traceId="nowhere")).error
    assert error["code"] == "TRACE_NOT_FOUND"
    assert error["details"]["category"] == "NOT_FOUND"


async def test_ids_outside_their_limits_are_refused(client: ToolClient) -> None:
    for arguments, field in [
        ({}, "traceId"),
        ({"traceId": None}, "traceId"),
        ({"traceId": ""}, "traceId"),
        ({"traceId": "t" * 101}, "traceId"),
        ({"traceId": 5}, "traceId"),
        ({"traceId": "a\x00b"}, "traceId"),
        ({"traceId": "t", "deep": True}, "deep"),
    ]:
        assert list(await client.refusal("trace_analyze", **arguments)) == [field]
