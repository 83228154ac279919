"""`quarterdeck://questions`: what agents ask, as a resource."""

import json
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from quarterdeck.domain.access import Scope
from quarterdeck.testing import Deck, quarterdeck_for_tests
from quarterdeck.tools.words import Words
from tests.support.clients import Era, ToolClient, connected
from tests.support.records import newest_trace
from tests.support.sites import Site, site

URI = "quarterdeck://questions"
ALIAS = "automatosx://questions"


@pytest.fixture
async def deck(tmp_path: Path) -> AsyncIterator[Deck]:
    async with quarterdeck_for_tests(tmp_path) as opened:
        yield opened


@pytest.fixture
async def here(deck: Deck) -> AsyncIterator[Site]:
    async with site(deck) as opened:
        yield opened


async def uris(client: ToolClient) -> list[str]:
    return [str(found.uri) for found in await client.mcp.list_resources()]


async def read(client: ToolClient, uri: str = URI) -> dict[str, Any]:
    [content] = (await client.mcp.read_resource_mcp(uri)).contents
    assert (str(content.uri), content.mime_type) == (uri, "application/json")
    return json.loads(content.model_dump()["text"])


async def test_it_shows_what_question_list_shows(client: ToolClient) -> None:
    assert await read(client) == {"questions": [], "total_count": 0}
    task = {"name": "sony", "project": "demo", "task": "/ask May I?"}
    await client.answer("create_agent", **task)
    await client.answer("wait_for_agent", agent_names=["sony"])

    shown = await read(client)
    assert shown["questions"][0]["title"] == "May I?"
    assert shown == await client.answer("question_list")


async def test_it_is_read_under_the_older_scheme_too_and_listed_once(client: ToolClient) -> None:
    assert await read(client, ALIAS) == await read(client)
    assert await uris(client) == [URI]
    listing = await client.answer("mcp_list_resources")
    assert [row["uri"] for row in listing["resources"]] == [URI]


async def test_a_read_is_traced_once_under_its_operation(client: ToolClient, deck: Deck) -> None:
    await read(client)
    trace = await newest_trace(deck)
    assert trace.workflow_id == "mcp.resources/read"


@pytest.mark.parametrize(
    ("scope", "path", "is_shown"),
    [
        (Scope.APPROVE, "/mcp", True),
        (Scope.ADMIN, "/mcp", True),
        (Scope.ADMIN, "/mcp/x/fleet,meta", True),
        (Scope.WRITE, "/mcp", False),
        (Scope.READ, "/mcp", False),
        (Scope.ADMIN, "/mcp/readonly", False),
        (Scope.ADMIN, "/mcp/x/memory,meta", False),
    ],
)
async def test_it_is_there_for_who_may_approve(
    here: Site, era: Era, scope: Scope, path: str, *, is_shown: bool
) -> None:
    token = await here.token("caller", scope)
    async with here.connected(token.secret, era, path) as client:
        assert (URI in await uris(client)) is is_shown
        listing = await client.answer("mcp_list_resources")
        assert bool(listing["total_resources"]) is is_shown
        for uri in (URI, ALIAS):
            if is_shown:
                await read(client, uri)
            else:
                with pytest.raises(MCPError, match=f"Resource not found: '{uri}'"):
                    await client.mcp.read_resource_mcp(uri)


async def test_it_is_not_offered_without_its_toolset(tmp_path: Path, era: Era) -> None:
    settings = {"server.toolsets": ["memory"]}
    async with (
        quarterdeck_for_tests(tmp_path / "small", settings=settings) as small,
        connected(small.server, era) as client,
    ):
        assert await uris(client) == []
        with pytest.raises(MCPError, match="Resource not found"):
            await client.mcp.read_resource_mcp(URI)


async def test_its_words_are_the_users_to_change(deck: Deck, era: Era, tmp_path: Path) -> None:
    file = tmp_path / "metadata.yaml"
    file.write_text("resources:\n  automatosx://questions:\n    title: Asked\n", encoding="utf-8")
    assert await Words(deck.services, deck.server, file).load() == []
    async with connected(deck.server, era) as client:
        [questions] = await client.mcp.list_resources()
    assert (questions.title, questions.name) == ("Asked", "questions")


@pytest.mark.parametrize(("scope", "may"), [(Scope.APPROVE, True), (Scope.WRITE, False)])
async def test_only_who_may_read_it_may_watch_it(
    deck: Deck, tmp_path: Path, scope: Scope, *, may: bool
) -> None:
    await Words(deck.services, deck.server, tmp_path / "none.yaml").load()
    async with site(deck) as here:
        token = await here.token("caller", scope)
        async with here.connected(token.secret, "legacy") as client:
            refused = nullcontext() if may else pytest.raises(MCPError, match="not found")
            for method in ("resources/subscribe", "resources/unsubscribe"):
                with refused:
                    await client.request(method, {"uri": URI})
