from pathlib import Path

from quarterdeck.testing import Deck, quarterdeck_for_tests
from tests.support.clients import ToolClient

GUIDANCE = {"workflow": "Read resources for context first, then use tools to act"}


QUESTIONS = "quarterdeck://questions"


async def test_the_packages_own_resources_are_listed(client: ToolClient) -> None:
    listing = await client.answer("mcp_list_resources")
    [questions] = listing.pop("resources")
    assert (questions["uri"], questions["name"]) == (QUESTIONS, "questions")
    assert "question_answer" in questions["description"]
    assert listing == {"total_resources": 1, "resource_templates": [], "guidance": GUIDANCE}


async def test_a_server_without_resources_says_so(tmp_path: Path) -> None:
    settings = {"server.toolsets": ["meta"]}
    async with quarterdeck_for_tests(tmp_path / "bare", settings=settings) as bare:
        assert (await bare.call("mcp_list_resources")).answer == {
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

    listing = await client.answer("mcp_list_resources")
    assert listing["resources"].pop(0)["uri"] == QUESTIONS
    assert listing == {
        "total_resources": 3,
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
