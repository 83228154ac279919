"""`metadata init`, `set` and `unset`."""

import io
import json
import os
import stat
import sys
from pathlib import Path

import pytest
import yaml

from quarterdeck.overrides.reading import parse_metadata
from tests.cli.conftest import CommandLine, Finished
from tests.support.furnished import Furnished

FLEET, AGENTS = "quarterdeck://fleet", "quarterdeck://agents/{name}"


class Metadata:
    """The commands on a program that has everything, and the file they leave."""

    def __init__(self, cli: CommandLine, home: Path) -> None:
        self.cli, self.path = cli, home / "metadata.yaml"

    def __call__(self, *arguments: str) -> Finished:
        return self.cli("metadata", *arguments, program=Furnished())

    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def write(self, text: str) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(text, encoding="utf-8")
        self.path.chmod(0o600)


@pytest.fixture
def metadata(cli: CommandLine, home: Path) -> Metadata:
    return Metadata(cli, home)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_init_writes_a_private_file_that_changes_nothing(metadata: Metadata) -> None:
    before = os.umask(0)
    try:
        made = metadata("init")
    finally:
        os.umask(before)
    assert (made.code, made.out) == (0, "")
    assert "quarterdeck reload" in made.err
    assert mode(metadata.path) == 0o600
    assert yaml.safe_load(metadata.text()) == {"version": 1}
    assert json.loads(metadata("list", "--json").out)["overrides"] == []


def test_init_explains_every_field_in_lines_that_only_need_uncommenting(
    metadata: Metadata,
) -> None:
    metadata("init")
    used = "\n".join(line.removeprefix("# ") for line in metadata.text().splitlines())
    said = parse_metadata(used, "example").overrides
    assert said.tools["memory_store"].annotations.idempotent is True
    assert said.tools["agent-*"].mode == "append"
    assert said.resources["quarterdeck://example"].use_when
    assert said.resource_templates
    assert said.prompts["example"].arguments["topic"].description


@pytest.mark.parametrize("kind", ["file", "link to nothing"])
def test_init_overwrites_nothing(metadata: Metadata, kind: str) -> None:
    metadata.write("version: 1 # mine\n")
    if kind != "file":
        metadata.path.unlink()
        metadata.path.symlink_to(metadata.path.parent / "elsewhere")
    refused = metadata("init")
    assert refused.code == 4
    assert "exists already" in refused.err
    assert not (metadata.path.parent / "elsewhere").exists()


def test_set_makes_the_file_and_says_how_to_apply_it(metadata: Metadata) -> None:
    done = metadata("set", "memory_store", "description", "Our own words: use them.")
    assert (done.code, done.out) == (0, "")
    assert "quarterdeck reload" in done.err
    assert mode(metadata.path) == 0o600
    assert metadata.text() == (
        "version: 1\ntools:\n  memory_store:\n    description: 'Our own words: use them.'\n"
    )


@pytest.mark.parametrize(
    ("name", "field", "value", "place", "said"),
    [
        ("memory_store", "title", "T", "tools", "T"),
        ("memory_store", "arguments.key.description", "", "tools", ""),
        ("memory_store", "annotations.read_only", "true", "tools", True),
        ("memory_store", "mode", "append", "tools", "append"),
        ("agent-*", "title", "T", "tools", "T"),
        ("agent-later", "title", "T", "tools", "T"),
        (FLEET, "use_when", "Before asking.", "resources", "Before asking."),
        ("automatosx://fleet", "example", "E", "resources", "E"),
        (AGENTS, "name", "one agent", "resource_templates", "one agent"),
        ("review", "arguments.branch.description", "-x", "prompts", "-x"),
    ],
)
def test_every_field_of_everything_can_be_set_and_unset(
    metadata: Metadata, name: str, field: str, value: str, place: str, said: str | bool
) -> None:
    assert metadata("set", name, field, value).code == 0
    [(_, found)] = yaml.safe_load(metadata.text())[place].items()
    for part in field.split("."):
        found = found[part]
    assert found == said
    assert metadata("unset", name, field).code == 0
    assert yaml.safe_load(metadata.text()) == {"version": 1}


def test_strict_is_said_of_the_file(metadata: Metadata) -> None:
    assert metadata("set", "strict", "false").code == 0
    assert json.loads(metadata("list", "--json").out)["strict"] is False
    assert metadata("unset", "strict").code == 0
    assert metadata.text() == "version: 1\n"
    assert metadata("set", "strict", "perhaps").code == 2


def test_the_value_can_come_from_stdin_and_becomes_a_block(
    metadata: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.TextIOWrapper(io.BytesIO(b"one\ntwo\n"), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", given)
    assert metadata("set", "review", "description", "-").code == 0
    assert "description: |-\n      one\n      two\n" in metadata.text()


def test_comments_order_quotes_and_layout_stay(metadata: Metadata) -> None:
    text = (
        "# ours\nprompts:\n    review: # asked daily\n        title: 'R'\n\n"
        'tools:\n    # long\n    trace_get: {title: "G"}   # short\n'
    )
    metadata.write(text)
    assert metadata("set", "trace_get", "title", "Get it").code == 0
    assert metadata.text() == text.replace('"G"', '"Get it"')
    assert metadata("unset", "trace_get").code == 0
    assert metadata.text() == text.partition("tools:")[0] + "    # long\n"


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (("memory_stor", "title", "x"), 3, "did you mean 'memory_store'?"),
        (("quarterdeck://fleat", "title", "x"), 3, f"did you mean {FLEET!r}?"),
        (("memory_store", "desc", "x"), 2, "did you mean 'description'?"),
        (("memory_store", "use_when", "x"), 2, "known are"),
        (("memory_store", "arguments", "x"), 2, "arguments.NAME.description"),
        (("memory_store", "arguments.kee.description", "x"), 2, "did you mean 'key'?"),
        (("memory_store", "mode", "prepend"), 2, "append"),
        (("memory_store", "annotations.read_only", "1"), 2, "true or false"),
        (("memory_store", "title"), 2, "- reads it from stdin"),
        (("trace_get", "title", "half \udc80"), 2, "cannot be sent"),
        (("trace_get", "title", "x", "--kind", "prompt"), 3, ""),
    ],
)
def test_what_cannot_be_used_is_not_written(
    metadata: Metadata, arguments: tuple[str, ...], code: int, hint: str
) -> None:
    refused = metadata("set", *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert hint in refused.err
    assert not metadata.path.exists()


def test_a_bad_file_is_left_for_its_owner_to_mend(metadata: Metadata) -> None:
    metadata.write("tools:\n  memory_store:\n    titel: x\n")
    refused = metadata("set", "trace_get", "title", "x")
    assert refused.code == 2
    assert "line 3" in refused.err
    assert "did you mean 'title'?" in refused.err


def test_a_name_that_nothing_has_can_be_taken_out(metadata: Metadata) -> None:
    metadata.write("tools:\n  gone: {title: x}\n  memory_store: {title: y}\n")
    assert metadata("set", "memory_store", "title", "z").code == 2
    assert metadata("unset", "gone").code == 0
    assert metadata("set", "memory_store", "title", "z").code == 0


def test_what_the_file_does_not_say_cannot_be_unset(metadata: Metadata) -> None:
    assert metadata("unset", "memory_store").code == 3
    assert metadata("set", "memory_store", "title", "x").code == 0
    assert metadata("unset", "memory_store", "description").code == 3
    assert metadata("unset", "memory_store", "arguments").code == 3


def test_a_link_stays_a_link_and_the_mode_stays(metadata: Metadata, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.yaml"
    target.write_text("version: 1\n", encoding="utf-8")
    target.chmod(0o640)
    metadata.path.parent.mkdir()
    metadata.path.symlink_to(target)
    assert metadata("set", "memory_store", "title", "x").code == 0
    assert metadata.path.is_symlink()
    assert "memory_store" in target.read_text(encoding="utf-8")
    assert mode(target) == 0o640


def test_changes_leave_a_trace_and_looking_does_not(metadata: Metadata) -> None:
    metadata("set", "memory_store", "title", "x")
    metadata("set", "memory_store", "title", "x")
    metadata("list")
    metadata("unset", "memory_store")
    traces = json.loads(metadata.cli("traces", "list", "--json").out)["traces"]
    assert [trace["workflowId"] for trace in traces] == ["cli.metadata.unset", "cli.metadata.set"]


def test_the_file_can_be_elsewhere(
    metadata: Metadata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "deep" / "words.yaml"
    monkeypatch.setenv("QUARTERDECK_METADATA", str(other))
    assert metadata("path").out == f"{other}\n"
    assert metadata("set", "memory_store", "title", "x").code == 0
    assert mode(other) == 0o600
    assert not metadata.path.exists()
