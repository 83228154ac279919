"""What the package says of its tools: when to use one, what it changes, what comes before or after.

No test can tell whether a text is good; these tell when a part of it is missing.
"""

import re

import pytest

from quarterdeck.tools.texts import ToolText, load_texts

TEXTS = load_texts()
# Those that stand alone: nothing of ours comes before or after them.
ALONE = {"mcp_list_resources"}
# What stands in quotes is a field or a value, not a tool.
NAME = re.compile(r'(?<!")\b[a-z]+(?:_[a-z]+)+\b(?!")')


@pytest.fixture(params=sorted(TEXTS))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def text(name: str) -> ToolText:
    return TEXTS[name]


def test_a_text_says_when_to_use_the_tool(text: ToolText) -> None:
    assert re.search(r"\bUse it (when|before|to|on|after)\b", text.description)


def test_a_text_says_what_the_tool_changes(text: ToolText) -> None:
    assert re.search(r"\bChanges (nothing\.|the )", text.description)


def test_a_text_names_what_comes_before_or_after(name: str, text: ToolText) -> None:
    others = set(NAME.findall(text.description)) & TEXTS.keys() - {name}
    assert others or name in ALONE


def test_a_text_names_only_tools_that_exist(text: ToolText) -> None:
    said = [text.description, *(part.description for part in text.arguments.values())]
    named = {found for one in said for found in NAME.findall(one)}
    assert named <= TEXTS.keys() | text.arguments.keys()


def test_a_text_is_long_enough_to_help_and_short_enough_to_read(text: ToolText) -> None:
    assert 5 <= len(text.title) <= 40
    assert 150 <= len(text.description) <= 600
    assert all(20 <= len(part.description) <= 200 for part in text.arguments.values())


def test_a_text_is_made_of_sentences(text: ToolText) -> None:
    for said in (text.description, *(part.description for part in text.arguments.values())):
        assert re.fullmatch(r"[A-Za-z\"].*[.]", said), said
        assert "  " not in said
        assert said.isascii()
