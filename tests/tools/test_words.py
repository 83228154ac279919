"""A server in the user's words: laid over whatever it lists, and exchanged while it runs."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import mcp.types as mt
import pytest
from fastmcp import Client
from fastmcp.client.messages import MessageHandler
from mcp.client import Client as SdkClient
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged

from quarterdeck.errors import InvalidMetadata
from quarterdeck.testing import Deck
from quarterdeck.tools.server import Offer, build_server
from quarterdeck.tools.words import Words
from tests.support.clients import Era
from tests.support.wordy import IN_WORDS, WORDS, add_more, shown

CHANGED = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
]


class File:
    """The user's file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def say(self, text: str) -> None:
        self.path.write_text(text, encoding="utf-8")

    def remove(self) -> None:
        self.path.unlink()


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "metadata.yaml")


@pytest.fixture
def words(deck: Deck, file: File) -> Words:
    add_more(deck.server)
    return Words(deck.services, deck.server, file.path)


async def lists_of(deck: Deck, era: Era = "auto") -> Sequence[tuple[object, ...]]:
    async with Client(deck.server, mode=era) as client:
        return await shown(client)


async def test_every_list_is_in_the_users_words(
    deck: Deck, words: Words, file: File, era: Era
) -> None:
    file.say(WORDS)
    assert await words.load() == []
    assert await lists_of(deck, era) == IN_WORDS


async def test_without_a_file_every_list_is_in_the_packages_words(deck: Deck, words: Words) -> None:
    before = await lists_of(deck)
    assert await words.load() == []
    assert await lists_of(deck) == before


async def test_what_is_registered_later_is_worded_too(deck: Deck, file: File) -> None:
    file.say(f"strict: false\n{WORDS}")
    words = Words(deck.services, deck.server, file.path)
    assert len(await words.load()) == 4
    add_more(deck.server)
    assert await lists_of(deck) == IN_WORDS


async def test_a_prompt_is_answered_with_the_description_it_is_listed_with(
    deck: Deck, words: Words, file: File
) -> None:
    file.say(WORDS)
    await words.load()
    async with Client(deck.server) as client:
        assert (await client.get_prompt("muster")).description == "Call everybody."


async def test_what_a_tool_takes_and_may_do_is_not_a_matter_of_words(
    deck: Deck, words: Words, file: File
) -> None:
    async with Client(deck.server) as client:
        (before,) = [tool for tool in await client.list_tools() if tool.name == "memory_store"]
        file.say(
            "tools: {memory_store: {arguments: {key: {description: ''}},"
            " annotations: {read_only: true}}}"
        )
        await words.load()
        (after,) = [tool for tool in await client.list_tools() if tool.name == "memory_store"]
    key = dict(before.input_schema["properties"]["key"])
    del key["description"]
    assert after.input_schema["properties"]["key"] == key
    assert after.input_schema["required"] == before.input_schema["required"]
    assert after.output_schema == before.output_schema
    reply = await deck.call("memory_store", {"key": "k", "value": {"a": 1}})
    assert reply.answer["success"] is True


async def test_the_check_is_against_all_tools_whatever_is_offered(deck: Deck, file: File) -> None:
    file.say("tools: {memory_store: {title: x}}")
    narrow = build_server(deck.services, Offer(("trace",), read_only=True))
    assert await Words(deck.services, narrow, file.path).load() == []


async def test_a_strict_file_with_problems_is_refused_with_all_of_them(
    words: Words, file: File
) -> None:
    file.say(
        "tools:\n  memory_stor: {}\n  memory_list: {arguments: {limt: {}}}\n"
        "resources:\n  quarterdeck://flet: {}\n"
    )
    with pytest.raises(InvalidMetadata) as refused:
        await words.load()
    found = refused.value.details["problems"]
    assert isinstance(found, list)
    assert [problem["line"] for problem in found] == [2, 3, 5]  # pyright: ignore[reportUnknownVariableType] - a list of mappings


async def test_a_lenient_file_is_used_with_logged_warnings(
    deck: Deck, words: Words, file: File, caplog: pytest.LogCaptureFixture
) -> None:
    file.say(f"strict: false\n{WORDS}  nobody:\n    title: x\n")
    with caplog.at_level(logging.WARNING, "quarterdeck"):
        (warning,) = await words.load()
    assert warning.problem == "there is no prompt 'nobody' (skipped)"
    assert caplog.messages == [f"{file.path}: {warning}"]
    assert await lists_of(deck) == IN_WORDS


async def test_a_bad_file_leaves_the_words_from_before(
    deck: Deck, words: Words, file: File
) -> None:
    file.say(WORDS)
    await words.load()
    file.say(f"{WORDS}versin: 1\n")
    with pytest.raises(InvalidMetadata):
        await words.reload()
    assert await lists_of(deck) == IN_WORDS


async def test_words_that_are_gone_from_the_file_are_the_packages_again(
    deck: Deck, words: Words, file: File
) -> None:
    before = await lists_of(deck)
    file.say(WORDS)
    await words.reload()
    file.remove()
    await words.reload()
    assert await lists_of(deck) == before


class Heard(MessageHandler):
    def __init__(self) -> None:
        self.methods: list[str] = []
        self.all = anyio.Event()

    async def on_notification(self, message: Any) -> None:  # noqa: ANN401 - as FastMCP declares it
        self.methods.append(message.method)
        if len(self.methods) == len(CHANGED):
            self.all.set()


async def test_clients_of_the_older_protocols_are_told(
    deck: Deck, words: Words, file: File
) -> None:
    heard = Heard()
    async with Client(deck.server, mode="legacy", message_handler=heard) as client:
        file.say(WORDS)
        await words.reload()
        await heard.all.wait()
        assert sorted(heard.methods) == sorted(CHANGED)
        assert await shown(client) == IN_WORDS


async def test_clients_of_the_newest_protocol_that_ask_for_it_are_told(
    deck: Deck, words: Words, file: File
) -> None:
    async with (
        SdkClient(deck.server._mcp_server) as client,  # pyright: ignore[reportPrivateUsage] - the SDK's own client takes the SDK's server
        client.listen(
            tools_list_changed=True, resources_list_changed=True, prompts_list_changed=True
        ) as changes,
    ):
        file.say(WORDS)
        await words.reload()
        told = [await anext(changes) for _ in CHANGED]
        assert told == [ToolsListChanged(), ResourcesListChanged(), PromptsListChanged()]


async def test_both_eras_are_promised_to_be_told(deck: Deck, words: Words, era: Era) -> None:
    assert words
    async with Client(deck.server, mode=era) as client:
        promised = client.session.server_capabilities
        assert isinstance(promised, mt.ServerCapabilities)
        assert promised.tools == mt.ToolsCapability(list_changed=True)
