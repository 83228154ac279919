import os
import socket
from pathlib import Path

import pytest

from quarterdeck.errors import InvalidMetadata
from quarterdeck.overrides.model import Overrides
from quarterdeck.overrides.reading import (
    MOST_BYTES,
    parse_metadata,
    read_metadata,
)
from quarterdeck.settings import load_settings

NOBODY = 65534


def problems(text: str) -> list[tuple[int | None, str, str]]:
    with pytest.raises(InvalidMetadata) as refused:
        parse_metadata(text, "metadata.yaml")
    return listed(refused.value)


def listed(error: InvalidMetadata) -> list[tuple[int | None, str, str]]:
    found = error.details["problems"]
    assert isinstance(found, list)
    return [(item["line"], item["where"], item["problem"]) for item in found]  # pyright: ignore[reportUnknownVariableType] - a list of mappings


def only_problem(text: str) -> tuple[int | None, str, str]:
    (problem,) = problems(text)
    return problem


def refusal(path: Path) -> str:
    with pytest.raises(InvalidMetadata) as refused:
        read_metadata(path)
    ((_, _, problem),) = listed(refused.value)
    assert str(path) in refused.value.message
    return problem


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "metadata.yaml"
    path.write_text("tools:\n  memory_store:\n    title: Keep\n", encoding="utf-8")
    return path


WHOLE = """\
version: 1
strict: false

tools:
  memory_store:
    title: Keep
    description: Keep it.
    mode: append
    arguments:
      key:
        description: Under which name
    annotations:
      idempotent: false
  agent-*:
    description: Ask it.
resources:
  quarterdeck://agents:
    name: agents
    title: Agents
    description: Who is there
    use_when: before a call
    example: read it first
resource_templates:
  quarterdeck://agents/{name}:
    description: One of them
prompts:
  review:
    title: Review
    arguments:
      branch:
        description: Which one
"""


def test_everything_that_can_be_said_is_read() -> None:
    parsed = parse_metadata(WHOLE, "metadata.yaml")
    found = parsed.overrides
    assert (found.version, found.strict) == (1, False)
    store = found.tools["memory_store"]
    assert (store.title, store.description, store.mode) == ("Keep", "Keep it.", "append")
    assert store.arguments["key"].description == "Under which name"
    assert store.annotations.idempotent is False
    assert found.tools["agent-*"].description == "Ask it."
    assert found.resources["quarterdeck://agents"].use_when == "before a call"
    assert found.resource_templates["quarterdeck://agents/{name}"].description == "One of them"
    assert found.prompts["review"].arguments["branch"].description == "Which one"


def test_the_line_of_every_key_is_known() -> None:
    lines = parse_metadata(WHOLE, "metadata.yaml").lines
    assert lines["tools",] == 4
    assert lines["tools", "memory_store", "arguments", "key", "description"] == 11
    assert lines["resources", "quarterdeck://agents", "example"] == 22


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "version: 1\ntools:\nresources:\n"])
def test_a_file_that_says_nothing_changes_nothing(text: str) -> None:
    assert parse_metadata(text, "metadata.yaml").overrides == Overrides()


def test_a_missing_file_changes_nothing(tmp_path: Path) -> None:
    assert read_metadata(tmp_path / "metadata.yaml").overrides == Overrides()
    assert read_metadata(tmp_path / "no" / "such" / "folder").overrides == Overrides()


def test_a_file_is_read(file: Path) -> None:
    assert read_metadata(file).overrides.tools["memory_store"].title == "Keep"


def test_an_empty_text_is_not_the_same_as_no_text() -> None:
    found = parse_metadata("tools: {a: {title: '', description: }}", "metadata.yaml").overrides
    assert (found.tools["a"].title, found.tools["a"].description) == ("", None)


def test_the_byte_order_mark_that_some_editors_write_is_no_text(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfstrict: false\r\n")
    assert read_metadata(file).overrides.strict is False


def test_the_file_is_in_the_home_unless_a_variable_or_the_config_names_another(
    tmp_path: Path,
) -> None:
    def found(environ: dict[str, str]) -> Path:
        return load_settings(flags={"home": tmp_path}, environ=environ).metadata_path

    assert found({}) == tmp_path / "metadata.yaml"
    assert found({"QUARTERDECK_METADATA": "/etc/words.yaml"}) == Path("/etc/words.yaml")
    (tmp_path / "config.toml").write_text('metadata = "ours.yaml"\n', encoding="utf-8")
    assert found({}) == tmp_path / "ours.yaml"


def test_every_problem_is_named_at_once_with_its_line() -> None:
    text = """\
version: 2
strct: true
tools:
  memory_store:
    desc: short
    description: 5
    mode: appended
    annotations: {readonly: true, destructive: 3}
    arguments:
      key: {text: x}
      key: {description: x}
  memory_list: hi
prompts: [review]
resources:
  quarterdeck://agents: {name: ''}
3: 4
"""
    assert problems(text) == [
        (1, "version", "must be 1, the only version that this program knows"),
        (2, "strct", "'strct' is unknown, did you mean 'strict'?"),
        (5, "tools.memory_store.desc", "'desc' is unknown, did you mean 'description'?"),
        (6, "tools.memory_store.description", "must be a text, in quotes if need be"),
        (7, "tools.memory_store.mode", "must be 'replace' or 'append'"),
        (8, "tools.memory_store.annotations.destructive", "must be true or false"),
        (
            8,
            "tools.memory_store.annotations.readonly",
            "'readonly' is unknown, did you mean 'read_only'?",
        ),
        (
            10,
            "tools.memory_store.arguments.key.text",
            "'text' is unknown, known are description",
        ),
        (11, "tools.memory_store.arguments.key", "'key' is there twice, first in line 10"),
        (12, "tools.memory_list", "must be a mapping"),
        (13, "prompts", "must be a mapping"),
        (15, "resources.quarterdeck://agents.name", "must not be empty"),
        (16, "", "a key must be a text"),
    ]


def test_the_message_says_it_all_in_one_line() -> None:
    with pytest.raises(InvalidMetadata) as refused:
        parse_metadata("strct: true\nversion: 3\n", "/srv/metadata.yaml")
    assert refused.value.message == (
        "The metadata file '/srv/metadata.yaml' has 2 problems:"
        " line 1: strct: 'strct' is unknown, did you mean 'strict'?;"
        " line 2: version: must be 1, the only version that this program knows"
    )
    assert (refused.value.code, refused.value.exit_code) == ("INVALID_INPUT", 2)


def test_a_file_of_something_else_gets_no_endless_message() -> None:
    found = problems("".join(f"key{number}: 1\n" for number in range(1000)))
    assert len(found) == 200


@pytest.mark.parametrize("version", ["'1'", "1.0", "true", "0", "99999999999", "!!str 1"])
def test_only_version_one_is_known(version: str) -> None:
    assert only_problem(f"version: {version}")[1] == "version"


def test_a_number_without_end_is_only_a_wrong_version() -> None:
    assert only_problem(f"version: {'9' * 100_000}")[1] == "version"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tools: {a", 1),
        ("version: 1\ntools:\n\ta: 1\n", 3),
        ("version: 1\n---\nversion: 1\n", 2),
        ("tools:\n  a: 'open\n", 3),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(text: str, line: int) -> None:
    found, where, problem = only_problem(text)
    assert (found, where) == (line, "")
    assert problem.startswith("it is no YAML: ")


@pytest.mark.parametrize("text", ["- a\n", "hello\n", "5\n"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    assert only_problem(text)[2] == "must be a mapping"


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system", "!!python/name:os.system", "!ours", "!!binary"]
)
def test_a_tag_is_refused_and_nothing_is_made_of_it(tag: str) -> None:
    line, where, problem = only_problem(f"tools:\n  a:\n    title: {tag} 'true'\n")
    assert (line, where) == (3, "tools.a.title")
    assert problem.endswith("is not taken, only plain texts and mappings are")


def test_python_of_a_file_is_not_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    command = f"touch {trap}"
    assert only_problem(f"tools: !!python/object/apply:os.system ['{command}']\n")[0] == 1
    assert not trap.exists()


def test_a_bomb_of_references_is_refused_before_it_grows() -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    text = "a0: &a0 [lol, lol, lol]\n" + "\n".join(levels)
    assert only_problem(text)[2] == "anchors and aliases (& and *) are not taken, write it out"


@pytest.mark.parametrize("text", ["tools:\n  a: &x {}\n", "tools:\n  a: *x\n"])
def test_references_are_refused_with_their_line(text: str) -> None:
    line, _, problem = only_problem(text)
    assert (line, problem.partition(" ")[0]) == (2, "anchors")


def test_merge_keys_are_refused() -> None:
    found = only_problem("tools:\n  a:\n    <<: {title: x}\n")
    assert found == (3, "tools.a", "merge keys (<<) are not taken")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_what_is_nested_too_deep_is_refused(opening: str) -> None:
    assert only_problem(opening * 100_000)[2] == "it is nested deeper than 10 levels"


@pytest.mark.parametrize("text", ['"\\0"', '"\\ud800"'])
def test_a_character_that_cannot_be_sent_is_refused(text: str) -> None:
    found = only_problem(f"tools: {{a: {{title: {text}}}}}")
    assert found == (1, "tools.a.title", "the text holds a character that cannot be sent")


def test_a_zero_byte_is_refused(file: Path) -> None:
    file.write_bytes(b"version: 1\ntools: \0\n")
    assert "U+0000" in refusal(file)


def test_what_is_not_utf_8_is_refused(file: Path) -> None:
    file.write_bytes("strict: true\n# Käse\n".encode("latin-1"))
    with pytest.raises(InvalidMetadata) as refused:
        read_metadata(file)
    assert listed(refused.value) == [(2, "", "it is not UTF-8 text")]


def test_a_huge_file_is_refused_without_being_read(file: Path) -> None:
    os.truncate(file, 50 * 1024 * 1024)
    assert refusal(file) == "it is larger than 1024 KiB"


def test_the_largest_file_is_still_read(file: Path) -> None:
    start = b"strict: false\n#"
    file.write_bytes(start + b"x" * (MOST_BYTES - len(start)))
    assert read_metadata(file).overrides.strict is False


def test_a_folder_a_pipe_and_a_socket_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refusal(tmp_path) == "it is not a regular file"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refusal(pipe) == "it is not a regular file"
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # the path of a socket must be short
        listener.bind("socket")
        assert refusal(tmp_path / "socket").startswith("it cannot be read: ")


def test_a_link_to_a_file_of_ours_is_followed(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    assert read_metadata(link).overrides.tools["memory_store"].title == "Keep"


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/null", "/"])
def test_a_link_to_anything_else_is_refused(tmp_path: Path, target: str) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(target)
    assert refusal(link) == "it is not a regular file"


def test_a_link_that_goes_in_circles_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(link)
    assert refusal(link).startswith("it cannot be read: ")


@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_of_another_user_is_refused(file: Path, tmp_path: Path, *, is_link: bool) -> None:
    theirs = Path("/etc/passwd")  # root's, which is another user unless the tests run as root
    if os.geteuid() == 0:
        os.chown(file, NOBODY, NOBODY)
        theirs = file
    if is_link:
        (tmp_path / "link.yaml").symlink_to(theirs)
        theirs = tmp_path / "link.yaml"
    assert refusal(theirs) == "it belongs to another user"


def test_a_file_that_every_user_may_write_is_refused(file: Path) -> None:
    file.chmod(0o666)
    assert refusal(file) == "every user may write to it, run 'chmod 600' on it"


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    assert refusal(loop).startswith("it cannot be read: ")
