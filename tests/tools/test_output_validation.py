"""A reply that breaks its schema is logged and marked, and still goes out."""

from quarterdeck.domain.effect import Effect
from quarterdeck.domain.trace import EventType, TraceStatus
from quarterdeck.services.operation import Operation, Operations, operation
from quarterdeck.testing import Deck
from quarterdeck.tools.registry import Toolset
from tests.requirements import requirement
from tests.support.clients import Era, ToolClient, connected
from tests.support.records import newest_trace, payload_of
from tests.support.workshop import Made, server_with

WRONG = Made.model_construct(text=5)


class Forge:
    """Makes answers that are not what it promised."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations

    @operation("forge.make", Effect.WRITE)
    async def make(self, _op: Operation) -> Made:
        return WRONG

    @operation("forge.commit", Effect.WRITE)
    async def commit(self, op: Operation) -> Made:
        return await op.commit(lambda _tx: WRONG)


def forge_tools(deck: Deck) -> Toolset:
    tools, forge = Toolset("forge"), Forge(deck.quarterdeck.memory.operations)

    @tools.tool(Effect.WRITE)
    async def make() -> Made:
        return await forge.make()

    @tools.tool(Effect.WRITE)
    async def commit() -> Made:
        return await forge.commit()

    @tools.tool(Effect.READ)
    async def unclaimed() -> Made:
        return WRONG

    return tools


@requirement("INV-MCP-001", "INV-MCP-VAL-001")
async def test_a_reply_that_breaks_its_schema_is_logged_marked_and_sent(
    deck: Deck, era: Era, broken_answers: list[str]
) -> None:
    async with connected(server_with(deck, forge_tools(deck)), era) as client:
        for count, tool in enumerate(("make", "commit", "unclaimed"), start=1):
            # Not `call`: the client would check the reply too, and not hand it out.
            result = await client.request("tools/call", {"name": tool, "arguments": {}})
            assert result["structuredContent"] == {"text": 5}
            assert not result["isError"]
            assert len(broken_answers) == count
            assert broken_answers[-1] == (
                f"The answer of {tool} breaks its schema: text must be a string"
            )
            trace = await newest_trace(deck)
            payload = payload_of(trace, EventType.TOOL_RESULT)
            assert trace.status is TraceStatus.SUCCESS
            assert payload["output"] == {"text": 5}
            assert payload["outputProblems"] == ["text must be a string"]


@requirement("INV-MCP-VAL-001")
async def test_trace_analyze_points_the_break_out(
    client: ToolClient, deck: Deck, broken_answers: list[str]
) -> None:
    async with connected(server_with(deck, forge_tools(deck))) as smith:
        await smith.request("tools/call", {"name": "make", "arguments": {}})
    trace = await newest_trace(deck)
    analysis = await client.answer("trace_analyze", traceId=trace.trace_id)
    assert [issue["type"] for issue in analysis["issues"]] == ["output_schema"]
    assert len(broken_answers) == 1


async def test_a_sound_reply_is_not_marked(client: ToolClient, deck: Deck) -> None:
    await client.answer("memory_list")
    payload = payload_of(await newest_trace(deck), EventType.TOOL_RESULT)
    assert "outputProblems" not in payload
