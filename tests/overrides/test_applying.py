import pytest

from quarterdeck.overrides.applying import (
    resource_text,
    worded_prompt,
    worded_resource,
    worded_template,
    worded_tool,
)
from quarterdeck.overrides.reading import parse_metadata
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool

HINTS = {"read_only": False, "destructive": False, "idempotent": True, "open_world": False}
STORE = ShownTool(
    "memory_store",
    "Store",
    "Store it.",
    {"key": "Its key", "value": "What"},
    HINTS,
    toolset="memory",
    wire={"name": "memory_store"},
)
AGENTS = ShownResource("quarterdeck://agents", "agents", "Agents", "Who is there.")
AGENT = ShownResource("quarterdeck://agents/{name}", "agent", None, "One of them.")
REVIEW = ShownPrompt("review", "Review", "Review a branch.", {"branch": "Which", "depth": None})


def tool(text: str, ours: ShownTool = STORE) -> ShownTool:
    return worded_tool(ours, parse_metadata(text, "metadata.yaml").overrides)


def resource(text: str) -> ShownResource:
    whole = f"resources: {{'quarterdeck://agents': {text}}}"
    overrides = parse_metadata(whole, "metadata.yaml").overrides
    return worded_resource(AGENTS, overrides)


def test_without_a_word_everything_stays() -> None:
    assert tool("tools: {memory_list: {title: x}}") is STORE
    assert resource("{}") == AGENTS


def test_what_is_said_replaces_ours_field_by_field() -> None:
    found = tool("tools: {memory_store: {description: Keep it.}}")
    assert (found.title, found.description, found.arguments) == (
        "Store",
        "Keep it.",
        STORE.arguments,
    )
    found = tool("tools: {memory_store: {title: Keep, arguments: {key: {description: Name}}}}")
    assert (found.title, found.description) == ("Keep", "Store it.")
    assert found.arguments == {"key": "Name", "value": "What"}
    assert (found.name, found.toolset) == ("memory_store", "memory")


def test_an_empty_text_clears() -> None:
    found = tool(
        "tools: {memory_store: {title: '', description: '', arguments: {key: {description: ''}}}}"
    )
    assert (found.title, found.description, found.arguments["key"]) == (None, None, None)
    assert resource("{title: '', description: ''}").description is None


def test_a_description_can_be_added_to_ours() -> None:
    assert tool("tools: {memory_store: {mode: append, description: Ask first.}}").description == (
        "Store it.\n\nAsk first."
    )
    assert tool("tools: {memory_store: {mode: append}}").description == "Store it."
    assert tool("tools: {memory_store: {mode: append, description: ''}}").description == "Store it."


def test_hints_change_one_by_one() -> None:
    found = tool("tools: {memory_store: {annotations: {destructive: true}}}")
    assert found.annotations == HINTS | {"destructive": True}


def test_a_pattern_speaks_for_every_tool_it_matches_and_a_name_wins_over_it() -> None:
    text = """\
tools:
  memory_store: {title: Keep}
  memory_*: {title: Memory, description: From memory., annotations: {open_world: true}}
  "*_store": {mode: append, description: Ask first.}
  agent-*: {title: Agent}
"""
    found = tool(text)
    assert (found.title, found.description) == ("Keep", "From memory.\n\nAsk first.")
    assert found.annotations["open_world"] is True
    assert tool(text, ShownTool("agent-x", None, None, {})).title == "Agent"


def test_a_tool_in_other_words_no_longer_has_its_old_wire_form() -> None:
    assert tool("tools: {memory_store: {title: Keep}}").wire == {}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("What", "then", "so"), "What\n\nWhen to use: then\nExample: so"),
        (("What", "then", None), "What\n\nWhen to use: then"),
        (("What", None, "so"), "What\n\nExample: so"),
        (("What", "", ""), "What"),
        ((None, "then", "so"), "When to use: then\nExample: so"),
        ((None, None, None), None),
    ],
)
def test_the_text_of_a_resource_is_composed_of_what_there_is(
    parts: tuple[str | None, str | None, str | None], text: str | None
) -> None:
    assert resource_text(*parts) == text


def test_advice_about_a_resource_comes_after_its_description() -> None:
    assert resource("{use_when: Before a call., example: Read it.}").description == (
        "Who is there.\n\nWhen to use: Before a call.\nExample: Read it."
    )
    found = resource("{name: fleet, title: Fleet, description: All of them., use_when: First.}")
    assert found == ShownResource(
        "quarterdeck://agents", "fleet", "Fleet", "All of them.\n\nWhen to use: First."
    )
    assert resource("{mode: append, description: And what., example: Read it.}").description == (
        "Who is there.\n\nAnd what.\n\nExample: Read it."
    )


def test_the_older_scheme_means_the_same_resource_and_template() -> None:
    text = """\
resources: {"automatosx://agents": {title: Fleet}}
resource_templates: {"automatosx://agents/{name}": {description: A single one.}}
"""
    overrides = parse_metadata(text, "metadata.yaml").overrides
    assert worded_resource(AGENTS, overrides).title == "Fleet"
    assert worded_template(AGENT, overrides).description == "A single one."
    assert worded_template(AGENTS, overrides) is AGENTS


def test_a_prompt_is_worded_like_a_tool() -> None:
    text = (
        "prompts: {review: {title: '', description: Look., arguments: {depth: {description: x}}}}"
    )
    assert worded_prompt(REVIEW, parse_metadata(text, "metadata.yaml").overrides) == ShownPrompt(
        "review", None, "Look.", {"branch": "Which", "depth": "x"}
    )
