"""`metadata list`, `show`, `diff` and `export`."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, Finished
from tests.support.furnished import PACKAGE, Furnished

WORDS = """\
version: 1
tools:
  memory_store:
    title: Remember
    description: "Search first.\\nThen store.\\e[2J"
    mode: append
    arguments:
      key: {description: ""}
    annotations: {destructive: true}
  trace_*: {title: Look back}
resources:
  automatosx://fleet: {use_when: Before asking an agent., example: Read it.}
resource_templates:
  quarterdeck://agents/{name}: {description: One agent.}
prompts:
  review: {title: Second look}
"""


@pytest.fixture
def path(home: Path) -> Path:
    home.mkdir()
    file = home / "metadata.yaml"
    file.write_text(WORDS, encoding="utf-8")
    return file


def metadata(cli: CommandLine, *arguments: str) -> Finished:
    return cli("metadata", *arguments, program=Furnished())


def test_list_prints_what_the_file_says_of_what(cli: CommandLine, path: Path) -> None:
    header, *rows = metadata(cli, "list").out.splitlines()
    assert header.split() == ["KIND", "NAME", "FIELD", "VALUE"]
    assert [row.split()[:3] for row in rows] == [
        ["tool", "memory_store", "title"],
        ["tool", "memory_store", "description"],
        ["tool", "memory_store", "mode"],
        ["tool", "memory_store", "arguments.key.description"],
        ["tool", "memory_store", "annotations.destructive"],
        ["tool", "trace_*", "title"],
        ["resource", "automatosx://fleet", "use_when"],
        ["resource", "automatosx://fleet", "example"],
        ["template", "quarterdeck://agents/{name}", "description"],
        ["prompt", "review", "title"],
    ]
    assert "\x1b" not in "".join(rows)
    said = json.loads(metadata(cli, "list", "--json").out)["overrides"]
    assert said[0] == {
        "kind": "tool",
        "name": "memory_store",
        "field": "title",
        "value": "Remember",
    }
    assert said[4]["value"] is True
    path.unlink()
    empty = metadata(cli, "list")
    assert (empty.code, empty.out) == (0, "")
    assert "Nothing is overridden" in empty.err


def test_show_has_the_words_of_the_package_of_the_file_and_what_is_shown(
    cli: CommandLine, path: Path
) -> None:
    assert path.exists()
    shown = json.loads(metadata(cli, "show", "memory_store", "--json").out)
    assert shown["kind"] == "tool"
    assert shown["package"]["title"] == "Store a memory"
    assert shown["file"]["title"] == shown["shown"]["title"] == "Remember"
    assert shown["shown"]["description"].startswith("Keep a JSON object under a key.\n\nChanges")
    assert shown["shown"]["description"].endswith("\n\nSearch first.\nThen store.\x1b[2J")
    assert shown["shown"]["arguments.key.description"] is None
    assert shown["shown"]["annotations.destructive"] is True

    text = metadata(cli, "show", "memory_store").out
    assert "  package  Store a memory\n  file     Remember\n  shown    Remember\n" in text
    assert "           Then store.\\x1b[2J\n" in text
    assert "arguments.key.description\n  package  Name of the entry.\n  file     (none)\n" in text


@pytest.mark.parametrize(
    ("name", "kind", "shown"),
    [
        ("quarterdeck://fleet", "resource", "When to use: Before asking an agent."),
        ("automatosx://fleet", "resource", "Example: Read it."),
        ("quarterdeck://agents/{name}", "template", "One agent."),
        ("review", "prompt", "Second look"),
        ("trace_get", "tool", "Look back"),
        ("trace_*", "tool", "Look back"),
    ],
)
def test_everything_can_be_shown_by_its_name(
    cli: CommandLine, path: Path, name: str, kind: str, shown: str
) -> None:
    assert path.exists()
    found = metadata(cli, "show", name)
    assert found.code == 0
    assert found.out.startswith(f"{kind} ")
    assert shown in found.out


def test_an_unknown_name_is_not_found_and_the_closest_is_told(cli: CommandLine) -> None:
    missing = metadata(cli, "show", "memory_stroe", "--json")
    assert missing.code == 3
    assert json.loads(missing.out)["error"]["details"]["closest"] == "memory_store"
    assert "did you mean 'memory_store'?" in missing.err


def test_diff_compares_the_package_with_what_is_shown(cli: CommandLine, path: Path) -> None:
    lines = metadata(cli, "diff").out.splitlines()
    assert "--- tool memory_store (package)" in lines
    assert "+++ tool memory_store (shown)" in lines
    assert "-title: Store a memory" in lines
    assert "+title: Remember" in lines
    assert "+  destructive: true" in lines
    assert "+title: Second look" in lines
    assert all(line.isprintable() for line in lines)

    changes = json.loads(metadata(cli, "diff", "--json").out)["changes"]
    assert [change["name"] for change in changes] == [
        "memory_store",
        "trace_get",
        "quarterdeck://fleet",
        "quarterdeck://agents/{name}",
        "review",
    ]
    path.write_text("version: 1\n", encoding="utf-8")
    nothing = metadata(cli, "diff")
    assert (nothing.code, nothing.out) == (0, "")
    assert "Nothing is changed" in nothing.err


def test_an_export_says_the_same_when_it_is_used(cli: CommandLine, path: Path) -> None:
    names = [tool.name for tool in PACKAGE.tools] + ["quarterdeck://fleet", "review"]
    before = [json.loads(metadata(cli, "show", name, "--json").out)["shown"] for name in names]
    exported = metadata(cli, "export").out
    path.write_text(exported, encoding="utf-8")
    assert metadata(cli, "validate").code == 0
    after = [json.loads(metadata(cli, "show", name, "--json").out)["shown"] for name in names]
    assert after == before
    assert metadata(cli, "export").out == exported


def test_the_baseline_as_the_file_changes_nothing(cli: CommandLine, path: Path) -> None:
    path.write_text(metadata(cli, "export", "--baseline").out, encoding="utf-8")
    assert metadata(cli, "diff").out == ""


def test_the_words_of_the_installed_package_can_be_exported_and_used(
    cli: CommandLine, home: Path
) -> None:
    home.mkdir()
    exported = cli("metadata", "export", "--output", str(home / "metadata.yaml"))
    assert (exported.code, exported.out) == (0, "")
    assert cli("metadata", "validate").code == 0
    assert cli("metadata", "diff").out == ""


def test_an_export_is_private_and_overwrites_nothing(
    cli: CommandLine, path: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.yaml"
    assert metadata(cli, "export", "--output", str(new)).code == 0
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    assert metadata(cli, "export", "--output", str(path)).code == 4
    assert path.read_text(encoding="utf-8") == WORDS


@pytest.mark.parametrize("command", ["list", "show", "diff", "export", "tokens"])
def test_a_bad_file_is_told_with_all_its_problems(
    cli: CommandLine, path: Path, command: str
) -> None:
    path.write_text("tools:\n  memory_store:\n    titel: x\n    desc: y\n", encoding="utf-8")
    refused = metadata(cli, command, *(["memory_store"] if command == "show" else []))
    assert refused.code == 2
    assert "line 3" in refused.err
    assert "line 4" in refused.err
    assert "did you mean 'description'?" in refused.err
