from quarterdeck.testing import Deck
from tests.support.clients import ToolClient

GUIDANCE = {"workflow": "Read resources for context first, then use tools to act"}


async def test_a_server_without_resources_says_so(client: ToolClient) -> None:
    assert await client.answer("mcp_list_resources") == {
        "total_resources": 0,
        "resources": [],
        "resource_templates": [],
        "guidance": GUIDANCE,
    }


async def test_resources_come_from_the_live_registry_sorted_by_uri(
    client: ToolClient, deck: Deck
) -> None:
    @deck.server.resource("test://b", name="second", description="What b is for")
    def _second() -> str:
        return "b"

    @deck.server.resource("test://a", name="first")
    def _first() -> str:
        return "a"

    @deck.server.resource("test://z/{name}", name="family", description="One of many")
    def _family(name: str) -> str:
        return name

    @deck.server.resource("test://c/{name}", name="relatives")
    def _relatives(name: str) -> str:
        return name

    assert await client.answer("mcp_list_resources") == {
        "total_resources": 2,
        "resources": [
            {"uri": "test://a", "name": "first"},
            {"uri": "test://b", "name": "second", "description": "What b is for"},
        ],
        "resource_templates": [
            {"uri_template": "test://c/{name}", "name": "relatives"},
            {"uri_template": "test://z/{name}", "name": "family", "description": "One of many"},
        ],
        "guidance": GUIDANCE,
    }


async def test_it_takes_no_arguments(client: ToolClient) -> None:
    reply = await client.call("mcp_list_resources", limit=5)
    assert reply.error["details"] == {
        "fields": [{"field": "limit", "problem": "is not an argument"}],
        "hint": "mcp_list_resources takes: none",
    }
