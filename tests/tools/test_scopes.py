"""A caller sees and uses what its token is for, over HTTP, in both eras, on both databases."""

from collections.abc import AsyncIterator

import pytest
from fastmcp import Client, FastMCP

from quarterdeck.domain.access import ONLY_READ, Scope
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.trace import EventType
from quarterdeck.errors import Denied
from quarterdeck.http_server import listen
from quarterdeck.serve import endpoints_of
from quarterdeck.services.calls import Call
from quarterdeck.testing import Deck
from quarterdeck.tools.registry import Toolset
from tests.support.clients import Era, ToolClient
from tests.support.records import newest_trace, payload_of, root_traces
from tests.support.sites import Site, running, site
from tests.support.workshop import Made, server_with

READING = [
    "list_agent_projects",
    "list_agent_roles",
    "list_agents",
    "show_agent",
    "wait_for_agent",
    "show_agent_diff",
    "show_agent_task_history",
    "show_agent_log",
    "memory_retrieve",
    "memory_search",
    "memory_list",
    "trace_list",
    "trace_get",
    "trace_analyze",
    "mcp_list_resources",
]
WRITING = [
    "create_agent",
    "delete_agent",
    "restart_agent",
    "start_agent_task",
    "cancel_agent_task",
    "memory_store",
    "memory_delete",
]
ASKING = ["question_list", "question_answer"]
STORE = {"key": "k", "value": {"text": "ahoy"}}


@pytest.fixture
async def here(deck: Deck) -> AsyncIterator[Site]:
    async with site(deck) as opened:
        yield opened


async def names(client: ToolClient) -> set[str]:
    return {tool.name for tool in await client.mcp.list_tools()}


async def hides_writing(client: ToolClient) -> bool:
    """Say whether what writes is not listed, and answers like a tool that does not exist."""
    for tool in (*WRITING, "no_such_tool"):
        error = (await client.call(tool, **STORE)).error
        assert (error["code"], error["message"]) == ("NOT_FOUND", f"Tool {tool!r} not found")
        assert error["details"].get("closest") not in WRITING
    return not set(WRITING) & await names(client)


async def test_a_token_that_reads_shows_and_runs_only_what_reads(here: Site, era: Era) -> None:
    token = await here.token("reader", Scope.READ)
    async with here.connected(token.secret, era) as client:
        assert await names(client) == set(READING)
        assert await hides_writing(client)
        assert (await client.answer("memory_list"))["total"] == 0


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        (Scope.WRITE, {*READING, *WRITING}),
        (Scope.ADMIN, {*READING, *WRITING, *ASKING}),
    ],
)
async def test_a_token_that_writes_shows_and_runs_everything_but_answers(
    here: Site, era: Era, scope: Scope, shown: set[str]
) -> None:
    token = await here.token("writer", scope)
    async with here.connected(token.secret, era) as client:
        assert await names(client) == shown
        await client.answer("memory_store", **STORE)
        assert (await client.answer("memory_list"))["total"] == 1


async def test_approving_is_not_writing(here: Site, era: Era) -> None:
    token = await here.token("person", Scope.APPROVE)
    async with here.connected(token.secret, era) as client:
        assert await hides_writing(client)
        assert set(ASKING) <= await names(client)
        assert (await client.answer("question_list"))["total_count"] == 0


async def test_writing_is_not_approving(here: Site, era: Era) -> None:
    token = await here.token("worker", Scope.READ, Scope.WRITE)
    async with here.connected(token.secret, era) as client:
        for tool in ASKING:
            error = (await client.call(tool, question_id="q", kind="allow_once")).error
            assert (error["code"], error["message"]) == ("NOT_FOUND", f"Tool {tool!r} not found")
            assert error["details"].get("closest") not in ASKING
        assert not set(ASKING) & await names(client)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/mcp/readonly", set(READING)),
        ("/mcp/x/memory/readonly", {name for name in READING if name.startswith("memory_")}),
        ("/mcp/x/all/readonly", set(READING)),
    ],
)
async def test_the_address_leaves_even_the_owner_only_what_reads(
    here: Site, era: Era, path: str, shown: set[str]
) -> None:
    async with here.connected(here.key, era, path) as client:
        assert await names(client) == shown
        assert await hides_writing(client)
        assert (await client.answer("memory_list"))["total"] == 0


async def test_the_trace_names_the_token_and_for_the_owner_only_the_client(
    here: Site, era: Era
) -> None:
    token = await here.token("ci", Scope.WRITE)
    actors: list[str] = []
    for secret in (token.secret, here.key):
        async with here.connected(secret, era) as client:
            await client.answer("memory_store", **STORE)
        actors.append((await newest_trace(here.deck)).actor)

    by_token, by_owner = actors
    assert by_token == f"token:ci {by_owner}"
    assert "/" in by_owner, "the client's name and version"


async def test_a_refused_call_is_traced_under_the_token_that_made_it(here: Site, era: Era) -> None:
    token = await here.token("reader")
    async with here.connected(token.secret, era) as client:
        await client.call("memory_store", **STORE)

    [trace] = await root_traces(here.deck)
    assert trace.actor.startswith("token:reader ")
    assert payload_of(trace, EventType.ERROR)["code"] == "NOT_FOUND"
    assert token.secret not in str(trace)


def tools_of(deck: Deck) -> Toolset:
    """Tools that the product does not have yet, or must never have."""
    tools, memory = Toolset("workshop"), deck.quarterdeck.memory

    @tools.tool(Effect.WRITE, scope=Scope.APPROVE)
    async def approve() -> Made:
        return Made(text="approved")

    @tools.tool(Effect.READ)
    async def lie() -> Made:
        await memory.store("k", {})
        return Made(text="this tool said that it only reads")

    return tools


async def test_a_tool_may_ask_for_another_scope_than_its_effect_does(deck: Deck, era: Era) -> None:
    async with site(deck, server_with(deck, tools_of(deck))) as here:
        for scopes, shown in (
            ([Scope.APPROVE], True),
            ([Scope.ADMIN], True),
            ([Scope.WRITE], False),
        ):
            token = await here.token(f"with-{scopes[0]}", *scopes)
            async with here.connected(token.secret, era) as client:
                assert ("approve" in await names(client)) is shown
                assert (await client.call("approve")).is_error is not shown


async def test_the_operation_refuses_what_a_tool_let_through(deck: Deck, era: Era) -> None:
    async with site(deck, server_with(deck, tools_of(deck))) as here:
        token = await here.token("reader")
        async with here.connected(token.secret, era) as client:
            error = (await client.call("lie")).error
    assert error["code"] == "DENIED"
    assert error["details"]["rule"] == "scope"
    assert error["details"]["scope"] == "write"


async def test_no_surface_gets_around_the_scopes_of_a_call(deck: Deck) -> None:
    memory = deck.quarterdeck.memory
    for surface in ("mcp", "cli", "web", "a2a"):
        call = Call(surface=surface, name=f"{surface}.store", input=None, scopes=ONLY_READ)
        with pytest.raises(Denied):
            await deck.quarterdeck.calls.serve(call, lambda: memory.store("k", {}))
    assert len(await root_traces(deck)) == 4


async def test_a_mounted_tool_takes_the_right_to_write(deck: Deck, era: Era) -> None:
    server = server_with(deck, tools_of(deck))

    @server.tool
    def foreign() -> str:
        return "from elsewhere"

    del foreign
    async with site(deck, server) as here:
        for scope, shown in ((Scope.READ, False), (Scope.WRITE, True)):
            token = await here.token(f"with-{scope}", scope)
            async with here.connected(token.secret, era) as client:
                assert ("foreign" in await names(client)) is shown
                result = await client.mcp.call_tool_mcp("foreign", {})
                assert result.is_error is not shown


async def test_what_comes_over_http_past_the_gate_may_do_nothing(deck: Deck, era: Era) -> None:
    server: FastMCP[None] = deck.server

    @server.prompt
    def hello() -> str:
        return "hello"

    del hello
    with listen("127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        async with running(endpoints_of(server).mcp, listener), Client(url, mode=era) as mcp:
            client = ToolClient(mcp)
            assert await names(client) == set()
            assert (await client.call("memory_list")).error["code"] == "NOT_FOUND"
            with pytest.raises(Exception, match="'read'"):
                await mcp.get_prompt("hello")
