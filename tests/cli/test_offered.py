"""What commands learn of the whole surface of the package, without a daemon."""

import os
from pathlib import Path

import pytest

from quarterdeck.__main__ import Installed
from quarterdeck.errors import InvalidMetadata
from quarterdeck.overrides.surface import ShownTool
from quarterdeck.settings import Settings, load_settings
from quarterdeck.tools.texts import load_texts

WORDS = "tools: {memory_store: {title: Keep, arguments: {key: {description: ''}}}}\n"


def settings_of(home: Path, words: str = WORDS) -> Settings:
    (home / "metadata.yaml").write_text(words, encoding="utf-8")
    narrow = {"server.toolsets": "trace", "server.read_only": True}
    return load_settings(flags={"home": home, **narrow}, environ={})


async def offered(settings: Settings, *, effective: bool) -> dict[str, ShownTool]:
    surface = await Installed().offered(settings, effective=effective)
    return {tool.name: tool for tool in surface.tools}


async def test_the_baseline_is_every_tool_in_the_packages_words(tmp_path: Path) -> None:
    found = await offered(settings_of(tmp_path), effective=False)
    texts = load_texts()
    assert found.keys() == texts.keys()
    for name, tool in found.items():
        assert (tool.title, tool.description) == (texts[name].title, texts[name].description)
        assert tool.wire["name"] == name
    assert found["memory_store"].toolset == "memory"
    assert found["memory_store"].annotations["read_only"] is False


async def test_the_effective_surface_is_in_the_users_words_on_the_wire_too(tmp_path: Path) -> None:
    store = (await offered(settings_of(tmp_path), effective=True))["memory_store"]
    assert (store.title, store.arguments["key"]) == ("Keep", None)
    assert store.wire["title"] == "Keep"
    assert "description" not in store.wire["inputSchema"]["properties"]["key"]


async def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidMetadata):
        await offered(settings_of(tmp_path, "versin: 1\n"), effective=True)
    assert await offered(settings_of(tmp_path, "versin: 1\n"), effective=False)


async def test_the_home_is_left_alone(tmp_path: Path) -> None:
    await offered(settings_of(tmp_path), effective=True)
    assert os.listdir(tmp_path) == ["metadata.yaml"]  # noqa: PTH208 - a test may wait for a disk
