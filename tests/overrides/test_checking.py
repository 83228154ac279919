import pytest

from quarterdeck.errors import InvalidMetadata
from quarterdeck.overrides.checking import Finding, checked_text, find_problems
from quarterdeck.overrides.reading import parse_metadata
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool, Surface

SURFACE = Surface(
    tools=[
        ShownTool("memory_store", "Store", "Store it", {"key": "Its key", "value": None}),
        ShownTool("memory_list", "List", "List all", {"limit": "How many"}),
        ShownTool("agent-bridge", "Bridge", "Bridge it", {"agent": "Which"}),
    ],
    resources=[ShownResource("quarterdeck://agents", "agents", None, None)],
    resource_templates=[ShownResource("quarterdeck://fleet/{id}", "agent", None, None)],
    prompts=[ShownPrompt("review", None, None, {"branch": None})],
)


def found(text: str) -> list[Finding]:
    parsed = parse_metadata(text, "metadata.yaml")
    return find_problems(parsed.overrides, SURFACE, parsed.lines)


def test_what_is_there_is_no_problem() -> None:
    assert (
        found("""\
tools:
  memory_store: {title: Keep, arguments: {key: {description: Name}}}
  memory_*: {annotations: {open_world: true}}
resources: {"quarterdeck://agents": {description: All}}
resource_templates: {"quarterdeck://fleet/{id}": {description: One}}
prompts: {review: {arguments: {branch: {description: Which}}}}
""")
        == []
    )


UNKNOWN = """\
tools:
  memory_stor: {title: Keep}
resources:
  quarterdeck://agent: {title: Agents}
resource_templates:
  quarterdeck://fleet/{ids}: {title: Agent}
prompts:
  revue: {title: Review}
"""
MEANT = [
    (2, "tools.memory_stor", "there is no tool 'memory_stor', did you mean 'memory_store'?"),
    (
        4,
        "resources.quarterdeck://agent",
        "there is no resource 'quarterdeck://agent', did you mean 'quarterdeck://agents'?",
    ),
    (
        6,
        "resource_templates.quarterdeck://fleet/{ids}",
        "there is no template 'quarterdeck://fleet/{ids}', did you mean 'quarterdeck://fleet/{id}'?",
    ),
    (8, "prompts.revue", "there is no prompt 'revue', did you mean 'review'?"),
]


def test_unknown_names_are_fatal_and_the_closest_is_named() -> None:
    assert found(UNKNOWN) == [Finding(*meant, fatal=True) for meant in MEANT]


def test_unknown_names_are_skipped_with_a_warning_when_the_file_is_not_strict() -> None:
    lenient = [
        Finding(line, where, f"{problem} (skipped)", fatal=False) for line, where, problem in MEANT
    ]
    assert found(f"{UNKNOWN}strict: false\n") == lenient


def test_a_name_like_no_other_gets_no_guess() -> None:
    assert found("tools: {xyzzy: {}}")[0].problem == "there is no tool 'xyzzy'"


@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        (
            "tools: {memory_store: {arguments: {keys: {}}}}",
            "tools.memory_store.arguments.keys",
            "the tool 'memory_store' has no argument 'keys', did you mean 'key'?",
        ),
        (
            "prompts: {review: {arguments: {xyzzy: {}}}}",
            "prompts.review.arguments.xyzzy",
            "the prompt 'review' has no argument 'xyzzy'",
        ),
        (
            "tools: {'memory_*': {arguments: {limt: {}}}}",
            "tools.memory_*.arguments.limt",
            "the tool that 'memory_*' matches has no argument 'limt', did you mean 'limit'?",
        ),
        (
            "resources: {'quarterdeck://agents': {}, 'automatosx://agents': {}}",
            "resources.automatosx://agents",
            "it is the same resource as 'quarterdeck://agents'",
        ),
    ],
)
def test_what_can_only_be_a_mistake_is_fatal_in_both_modes(
    text: str, where: str, problem: str, strict: str
) -> None:
    assert found(f"strict: {strict}\n{text}\n") == [Finding(2, where, problem, fatal=True)]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("agent-reviewer", "there is no tool 'agent-reviewer' so far"),
        ("agent-x*", "it matches no tool so far"),
        ("custom_*", "it matches no tool so far"),
    ],
)
def test_tools_that_may_come_later_are_only_warned_about(name: str, problem: str) -> None:
    assert found(f"tools: {{'{name}': {{title: x}}}}") == [
        Finding(1, f"tools.{name}", problem, fatal=False)
    ]


def test_an_argument_that_some_of_the_matching_tools_have_is_right() -> None:
    assert found("tools: {'memory_*': {arguments: {limit: {description: x}}}}") == []


def test_the_older_scheme_names_the_same_resources() -> None:
    assert (
        found(
            "resources: {'automatosx://agents': {title: x}}\n"
            "resource_templates: {'automatosx://fleet/{id}': {title: x}}\n"
        )
        == []
    )
    assert (
        "did you mean 'quarterdeck://agents'?"
        in found("resources: {'automatosx://agens': {}}")[0].problem
    )


def test_a_check_lists_all_that_is_fatal_and_returns_the_rest() -> None:
    bad = f"{UNKNOWN}  review: {{arguments: {{x: {{}}}}}}\n"
    with pytest.raises(InvalidMetadata) as refused:
        checked_text(bad, "/srv/m.yaml", SURFACE)
    assert refused.value.details["problems"] == [
        *({"line": line, "where": where, "problem": problem} for line, where, problem in MEANT),
        {
            "line": 9,
            "where": "prompts.review.arguments.x",
            "problem": "the prompt 'review' has no argument 'x'",
        },
    ]
    _, lenient = checked_text(f"{UNKNOWN}strict: false\n", "/srv/m.yaml", SURFACE)
    assert [finding.line for finding in lenient] == [2, 4, 6, 8]


def test_what_is_wrong_in_itself_and_with_what_there_is_is_told_at_once() -> None:
    text = "tols: {}\ntools:\n  mend: {desc: x}\n  search:\n    arguments:\n      qery: {}\n"
    tool = ShownTool("search", None, None, {"query": None})
    with pytest.raises(InvalidMetadata) as refused:
        checked_text(text, "metadata.yaml", Surface(tools=[tool]))
    assert [line for line, _, _ in refused.value.problems] == [1, 3, 3, 6]
