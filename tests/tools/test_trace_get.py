from dirty_equals import IsStr, IsUUID

from quarterdeck.testing import Deck
from tests.support.clients import ToolClient, connected
from tests.support.workshop import Workshop, server_with, workshop_tools


async def newest(client: ToolClient) -> str:
    return (await client.answer("trace_list", limit=1))["traces"][0]["traceId"]


async def newest_reading(client: ToolClient) -> str:
    """Return the newest trace that is not of looking for the newest trace."""
    rows = (await client.answer("trace_list"))["traces"]
    return next(row["traceId"] for row in rows if row["workflowId"] != "mcp.trace_list")


async def test_a_trace_tells_the_whole_story_of_a_call(client: ToolClient) -> None:
    await client.answer("memory_store", key="k", value={"a": [1, None]})
    trace_id = await newest(client)
    trace = await client.answer("trace_get", traceId=trace_id)
    events = trace.pop("events")
    assert trace == {
        "traceId": trace_id,
        "workflowId": "mcp.memory_store",
        "startTime": IsStr(regex=r".*Z"),
        "endTime": IsStr(regex=r".*Z"),
        "status": "success",
        "durationMs": 1.0,
        "actor": IsStr(regex=r".+/.+"),
        "surface": "mcp",
        "children": [],
    }
    assert events == [
        {
            "eventId": IsUUID,
            "type": "run.start",
            "sequence": 1,
            "timestamp": trace["startTime"],
            "payload": {"surface": "mcp", "actor": trace["actor"], "requestId": IsStr},
        },
        {
            "eventId": IsUUID,
            "type": "tool.invoke",
            "sequence": 2,
            "timestamp": trace["startTime"],
            "payload": {
                "toolName": "memory_store",
                "input": {"key": "k", "value": {"a": [1, None]}},
            },
        },
        {
            "eventId": IsUUID,
            "type": "tool.result",
            "sequence": 3,
            "timestamp": trace["endTime"],
            "payload": {
                "toolName": "memory_store",
                "success": True,
                "durationMs": 1.0,
                "output": {
                    "success": True,
                    "key": "k",
                    "namespace": "default",
                    "message": "Stored 'k' in namespace 'default'",
                },
            },
            "status": "success",
            "durationMs": 1.0,
        },
        {
            "eventId": IsUUID,
            "type": "run.end",
            "sequence": 4,
            "timestamp": trace["endTime"],
            "payload": {"success": True, "totalDurationMs": 1.0},
            "status": "success",
            "durationMs": 1.0,
        },
    ]
    assert len({event["eventId"] for event in events}) == 4


async def test_a_failed_call_has_its_error_as_output_and_as_an_event(client: ToolClient) -> None:
    reply = await client.call("memory_retrieve", key="")
    trace = await client.answer("trace_get", traceId=await newest(client))
    assert trace["status"] == "failure"
    assert [event["type"] for event in trace["events"]] == [
        "run.start",
        "tool.invoke",
        "tool.result",
        "error",
        "run.end",
    ]
    result, error, end = (event["payload"] for event in trace["events"][2:])
    assert result["output"] == reply.body
    assert error == {"code": "INVALID_INPUT", "message": reply.error["message"]}
    assert (result["success"], end["success"]) == (False, False)


async def test_an_event_has_the_same_id_each_time_it_is_read(client: ToolClient) -> None:
    await client.answer("memory_list")
    trace_id = await newest(client)
    first = await client.answer("trace_get", traceId=trace_id)
    assert await client.answer("trace_get", traceId=trace_id) == first


async def test_work_inside_a_call_is_shown_as_its_children(client: ToolClient, deck: Deck) -> None:
    async with connected(server_with(deck, workshop_tools(Workshop(deck)))) as nester:
        await nester.answer("nest", key="k")
    trace = await client.answer("trace_get", traceId=await newest(client))
    [child] = trace["children"]
    assert child == {
        "traceId": IsUUID,
        "workflowId": "memory.store",
        "status": "success",
        "durationMs": 1.0,
    }
    inside = await client.answer("trace_get", traceId=child["traceId"])
    assert inside["parentTraceId"] == trace["traceId"]
    assert inside["events"][1]["payload"]["input"] == {
        "key": "k",
        "value": {"made": True},
        "namespace": "inside",
    }
    assert inside["children"] == []


async def test_reading_the_trace_of_reading_a_trace_goes_on_and_on(client: ToolClient) -> None:
    await client.answer("memory_list")
    for _ in range(60):
        # Each answer holds the one before it, until a payload is cut by its size or depth.
        trace = await client.answer("trace_get", traceId=await newest_reading(client))
        assert trace["status"] == "success"


async def test_text_with_odd_line_ends_is_read_back(client: ToolClient) -> None:
    value = {"text": "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\r\nh"}
    await client.answer("memory_store", key="k\u2028", value=value)
    trace = await client.answer("trace_get", traceId=await newest(client))
    assert trace["events"][1]["payload"]["input"] == {"key": "k\u2028", "value": value}


async def test_an_unknown_id_is_not_found(client: ToolClient) -> None:
    for trace_id in ("t", "t" * 100, "../x", "01a1de73-c25c-7fe3-a54f-0e4b05ec84d8"):
        assert (await client.call("trace_get", traceId=trace_id)).error == {
            "code": "TRACE_NOT_FOUND",
            "message": f"Trace {trace_id!r} not found",
            "details": {
                "traceId": trace_id,
                "category": "NOT_FOUND",
                "hint": "trace_list shows the traces that are kept; older ones are pruned",
            },
        }


async def test_ids_outside_their_limits_are_refused(client: ToolClient) -> None:
    for arguments, field in [
        ({}, "traceId"),
        ({"traceId": None}, "traceId"),
        ({"traceId": ""}, "traceId"),
        ({"traceId": "t" * 101}, "traceId"),
        ({"traceId": 5}, "traceId"),
        ({"traceId": "a\x00b"}, "traceId"),
    ]:
        assert list(await client.refusal("trace_get", **arguments)) == [field]
    problems = await client.refusal("trace_get", trace_id="t")
    assert problems["trace_id"] == "is not an argument; did you mean 'traceId'?"
