"""One place of a file changes, and nothing else does."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from quarterdeck.errors import InvalidInput
from quarterdeck.overrides.document import has_value, loaded, with_value, without

TOOLS = ("memory_store", "memory_list", "agent-*", "trace_get")
FIELDS = ("title", "description", "mode")
# Every way in which a text can be written, for a key at this depth.
STYLES = (
    "plain text",
    "'in: single quotes'",
    '"in # double quotes"',
    "|\n{below}first line\n{below}# no comment\n\n{below}last line",
    ">-\n{below}folded\n{below}text",
    "|+\n{below}with blank lines behind it\n\n",
    "",
)
TEXTS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40
) | st.sampled_from([
    "---", "...", "# no comment", "a: b", "- a", "yes", "null", "1", "~", "*a", "&a", "!!python/x",
    " lead", "trail ", "\n", "\n\n", "a\nb", " a\nb\n", "a\n\n  b\n\n", "a \nb", "\tx", "{a}", "%a",
    "'", '"', "\\", "a\r\nb", "\u2028", "\x85", "\x1b[2J", "\U0001f600", "@a", "`a", "? a", "a #b",
])  # fmt: skip


@dataclass(frozen=True)
class Written:
    """A file, and where each of its comments stands: on a line of its own, or behind a field."""

    text: str
    own: Sequence[str]
    behind: dict[tuple[str, str], str]


@st.composite
def files(draw: st.DrawFn) -> Written:
    width, numbers = draw(st.sampled_from([1, 2, 4, 8])), count()
    lines, own, behind = list[str](), list[str](), dict[tuple[str, str], str]()

    def comment(column: int) -> None:
        if draw(st.booleans()):
            own.append(f"# own{next(numbers)}.")
            lines.append(" " * column + own[-1])
        if draw(st.booleans()):
            lines.append("")

    comment(0)
    lines.append("version: 1")
    comment(0)
    lines.append("tools:")
    for tool in draw(st.lists(st.sampled_from(TOOLS), unique=True, min_size=1)):
        comment(draw(st.sampled_from([0, width])))
        lines.append(f'{" " * width}"{tool}":')
        for field in draw(st.lists(st.sampled_from(FIELDS), unique=True, min_size=1)):
            comment(draw(st.sampled_from([width, 2 * width])))
            style = draw(st.sampled_from(STYLES))
            first, *rest = style.format(below=" " * 3 * width).split("\n")
            if draw(st.booleans()):
                behind[tool, field] = f"# behind{next(numbers)}."
                first += f"  {behind[tool, field]}"
            lines += [f"{' ' * 2 * width}{field}: {first}", *rest]
    comment(0)
    return Written("\n".join(lines) + draw(st.sampled_from(["", "\n"])), own, behind)


def comments(written: Written) -> list[str]:
    every = [*written.own, *written.behind.values()]
    return sorted(every, key=written.text.index)


def kept(text: str, wanted: Sequence[str]) -> list[str]:
    return sorted((comment for comment in wanted if comment in text), key=text.index)


def is_within(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Say whether `lines` are all among the `others`, in their order."""
    rest = iter(others)
    return all(line in rest for line in lines)


@settings(max_examples=60)
@given(files(), st.sampled_from(TOOLS), st.sampled_from(FIELDS), TEXTS)
def test_setting_keeps_every_comment_and_the_order(
    written: Written, tool: str, field: str, value: str
) -> None:
    # The last line gets an end, which belongs to it when it is in a block.
    before = yaml.safe_load(written.text.removesuffix("\n") + "\n")
    after = with_value(written.text, ("tools", tool, field), value)

    said = yaml.safe_load(after)
    assert said["tools"][tool][field] == value
    assert kept(after, comments(written)) == comments(written)
    if field in (before["tools"].get(tool) or {}):
        assert list(said["tools"]) == list(before["tools"])
        assert list(said["tools"][tool]) == list(before["tools"][tool])
    else:
        assert is_within(written.text.splitlines(), after.splitlines())
    before["tools"][tool] = {**(before["tools"].get(tool) or {}), field: value}
    assert said == before


@settings(max_examples=60)
@given(files(), st.data())
def test_unsetting_takes_its_own_lines_and_nothing_else(
    written: Written, data: st.DataObject
) -> None:
    # Blank lines that were inside of the entry could join such a text; then it is refused.
    assume("|+" not in written.text)
    before = yaml.safe_load(written.text)["tools"]
    there = [(tool, name) for tool, said in before.items() for name in said if said[name]]
    if not there:
        return
    tool, field = data.draw(st.sampled_from(there))
    after = without(written.text, ("tools", tool, field))

    assert is_within(after.splitlines(), written.text.splitlines())
    gone = written.behind.get((tool, field))
    staying = [comment for comment in comments(written) if comment != gone]
    assert [comment for comment in kept(after, staying) if comment in written.own] == [
        comment for comment in staying if comment in written.own
    ]
    assert not has_value(loaded(after), ("tools", tool, field))


@settings(max_examples=60)
@given(files(), st.sampled_from(TOOLS), st.sampled_from(FIELDS), TEXTS)
def test_what_was_set_anew_can_be_unset_without_a_trace(
    written: Written, tool: str, field: str, value: str
) -> None:
    place = ("tools", tool, "arguments", field, "description")
    whole = written.text if written.text.endswith("\n") else written.text + "\n"
    assert without(with_value(whole, place, value), place) == whole


@given(TEXTS)
def test_any_text_can_be_said_in_an_empty_file_and_between_braces(value: str) -> None:
    for start in ("", "# nothing yet\n", "tools: {}\n", "{}", "tools: {a: {title: x}}", "tools:\n"):
        said = yaml.safe_load(with_value(start, ("tools", "a", "title"), value))
        assert said["tools"]["a"]["title"] == value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tools: {a: {title: x}, b: {title: y}}", "tools: {b: {title: y}}"),
        ("tools: {b: {title: y}, a: {title: x}}", "tools: {b: {title: y}}"),
        ("tools: {a: {title: x, mode: append}}", "tools: {a: {mode: append}}"),
        ("tools:\n  a: {title: x}\nversion: 1\n", "version: 1\n"),
        ("# one\r\ntools:\r\n  a:\r\n    title: x\r\n# two\r\n", "# one\r\n# two\r\n"),
    ],
)
def test_what_is_left_empty_goes_too(before: str, after: str) -> None:
    assert without(before, ("tools", "a", "title")) == after


def test_several_lines_become_a_block_and_quotes_stay() -> None:
    text = "tools:\n    a:\n        title: 'x'  # why\n        description: \"y\"\n"
    text = with_value(text, ("tools", "a", "title"), "it's")
    text = with_value(text, ("tools", "a", "description"), "one\n  two\n")
    assert text == (
        "tools:\n    a:\n        title: 'it''s'  # why\n"
        "        description: |\n          one\n            two\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "tools: &all\n  a: {title: x}\nprompts: *all\n",
        "tools: [a]\n",
        "tools: text\n",
        "tools:\n  a:\n    title: {b: c}\n",
        "tools:\n  a:\n    title: x\n...\n",
    ],
)
def test_what_cannot_be_changed_in_one_place_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="metadata file"):
        with_value(with_value(text, ("tools", "a", "title"), "new"), ("prompts", "b", "mode"), "z")


def test_a_text_that_would_grow_by_the_blank_lines_of_another_is_left_alone() -> None:
    text = "tools:\n  a:\n    title: |+\n      x\n  b:\n\n    title: y\n"
    with pytest.raises(InvalidInput, match="cannot change"):
        without(text, ("tools", "b", "title"))
