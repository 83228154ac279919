import os
from pathlib import Path

import pytest

from quarterdeck.clients.taskfile.reading import MOST_BYTES, TaskField, read_fields


@pytest.fixture
def taskfile(tmp_path: Path) -> Path:
    return tmp_path / "Taskfile.yml"


def read(taskfile: Path, tasks: str) -> list[TaskField]:
    taskfile.write_text(f"version: '3'\ntasks:\n{tasks}\n", encoding="utf-8")
    return list(read_fields(taskfile))


def test_a_task_with_a_meta_is_a_field_and_no_other(taskfile: Path) -> None:
    tasks = """
  branch: {desc: The branch, meta: {include_in_list: true, type: string}, cmds: [echo main]}
  build: {desc: Builds, cmds: [make]}
  short: echo short
  list: [echo list]
  issues: {meta: {include_in_list: false}, cmds: [echo 3]}
"""
    assert read(taskfile, tasks) == [
        TaskField("branch", "The branch", include_in_list=True, value_type="string"),
        TaskField("issues", "No description"),
    ]


@pytest.mark.parametrize(
    ("desc", "told"),
    [("''", "No description"), ("", "No description"), ("'  '", "No description"), ("42", "42")],
)
def test_a_description_is_text(taskfile: Path, desc: str, told: str) -> None:
    [field] = read(taskfile, f"  a:\n    desc: {desc}\n    meta: {{include_in_list: true}}")
    assert field.description == told


@pytest.mark.parametrize(
    "meta",
    [
        "",
        "true",
        "[include_in_list]",
        "{}",
        "{type: string}",
        "{include_in_list: 1}",
        "{include_in_list: 'true'}",
        "{include_in_list: }",
        "{include_in_list: true, type: date}",
        "{include_in_list: true, type: }",
        "{include_in_list: true, colour: red}",
    ],
)
def test_a_bad_meta_is_a_field_that_says_so_and_is_not_in_lists(taskfile: Path, meta: str) -> None:
    [field] = read(taskfile, f"  a:\n    desc: Kept\n    meta: {meta}")
    assert (field.name, field.description, field.include_in_list) == ("a", "Kept", False)
    assert (field.problem or "").startswith("Bad meta: ")


@pytest.mark.parametrize(
    "name", ["-x", "--", "x" * 257, "a=b", "''", "' '", '"a\\0b"', '"a\\nb"', '"\\ud800"']
)
def test_a_name_that_cannot_be_called_is_a_field_with_its_reason(taskfile: Path, name: str) -> None:
    fields = read(taskfile, f"  ? {name}\n  : {{meta: {{include_in_list: true}}}}")
    assert all(field.problem and field.include_in_list for field in fields)
    assert all(field.name.encode() is not None for field in fields)


def test_a_name_of_256_characters_is_taken(taskfile: Path) -> None:
    [field] = read(taskfile, f"  ? {'x' * 256}\n  : {{meta: {{include_in_list: true}}}}")
    assert field.problem is None


def test_names_are_text_as_they_are_written(taskfile: Path) -> None:
    meta = "{meta: {include_in_list: true}}"
    tasks = "\n".join(f"  {name}: {meta}" for name in ("on", "12", "null", "items", "PR", "pr"))
    names = [field.name for field in read(taskfile, tasks)]
    assert names == ["on", "12", "null", "items", "PR", "pr"]


def test_of_two_tasks_with_one_name_the_last_counts(taskfile: Path) -> None:
    tasks = "  a: {desc: A, meta: {include_in_list: true}}\n  a: {desc: B, meta: {}}"
    assert [field.description for field in read(taskfile, tasks)] == ["B"]


def test_a_merge_key_is_followed(taskfile: Path) -> None:
    tasks = "  a: &a {desc: A, meta: {include_in_list: true}}\n  b: {<<: *a, desc: B}"
    fields = read(taskfile, tasks)
    assert [(f.name, f.description, f.include_in_list) for f in fields] == [
        ("a", "A", True),
        ("b", "B", True),
    ]


def test_included_files_are_not_followed(taskfile: Path) -> None:
    other = taskfile.with_name("other.yml")
    read(other, "  hidden: {meta: {include_in_list: true}}")
    tasks = "  a: {meta: {include_in_list: true}}\nincludes: {other: ./other.yml}"
    assert [field.name for field in read(taskfile, tasks)] == ["a"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"tasks: [",
        b"just text",
        b"- a list",
        b"tasks: text",
        b"version: '3'",
        b"tasks: {a: !!python/object/apply:os.system [true]}",
        b"tasks: {\xff\xfe: {meta: {}}}",
        b"tasks: {a: {meta: *nobody}}",
        b"tasks: {a: {meta: " + b"[" * 100_000,
        b"one: 1\n---\ntwo: 2",
        b"#" * (MOST_BYTES + 1),
    ],
    ids=range(12),
)
def test_a_broken_file_has_no_fields(taskfile: Path, content: bytes) -> None:
    taskfile.write_bytes(content)
    assert list(read_fields(taskfile)) == []


def test_a_file_that_is_none_has_no_fields(taskfile: Path, tmp_path: Path) -> None:
    os.mkfifo(taskfile)
    assert list(read_fields(taskfile)) == []
    assert list(read_fields(tmp_path)) == []
    assert list(read_fields(tmp_path / "absent.yml")) == []
    assert list(read_fields(tmp_path / "no\0name")) == []


@pytest.mark.timeout(20)
def test_aliases_that_would_grow_without_end_cost_nothing(taskfile: Path) -> None:
    bomb = ["x0: &x0 [lol]"]
    bomb += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 30)]
    merges = [f"m{n}: &m{n} {{<<: *m{n - 1}}}" for n in range(1, 30)]
    tasks = "tasks: {a: {meta: {include_in_list: true}, vars: *x29}, b: {<<: *m29}}"
    taskfile.write_text("\n".join([*bomb, "m0: &m0 {desc: x}", *merges, tasks]), encoding="utf-8")
    assert [field.name for field in read_fields(taskfile)] == ["a"]


def test_a_mapping_that_merges_itself_is_read_to_an_end(taskfile: Path) -> None:
    assert read(taskfile, "  a: &a {<<: *a, desc: A}") == []


def test_a_few_bytes_make_no_more_than_so_many_fields(taskfile: Path) -> None:
    aliases = "\n".join(f"  f{n}: *long" for n in range(2000))
    tasks = f"  f: &long {{desc: {'d' * 9000}, meta: {{include_in_list: true}}}}\n{aliases}"
    fields = read(taskfile, tasks)
    assert len(fields) == 1000
    assert {len(field.description) for field in fields} == {2000}


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("cmds: [echo 1], desc: A", "echo 1"),
        ("cmd: echo 1", "echo 1"),
        ("cmds: echo 1", "echo 1"),
        ("cmds: [echo 1, echo 2]", None),
        ("cmds: []", None),
        ("cmds: [~]", None),
        ("desc: A", None),
        ("cmd: echo 1, cmds: [echo 2]", None),
        ("cmd: echo 1, cmd: echo 2", None),
        ("cmds: ['echo {{.TASK}}']", None),
        ("cmds: [{cmd: echo 1, ignore_error: true}]", None),
        ("cmds: [{task: other}]", None),
        ("cmds: [echo 1], vars: {A: {sh: pwd}}", None),
        ("cmds: [echo 1], env: {A: b}", None),
        ("cmds: [echo 1], deps: [other]", None),
        ("cmds: [echo 1], dir: /tmp", None),
        ("cmds: [echo 1], <<: {dir: /tmp}", None),
    ],
)
def test_a_command_is_known_where_it_is_all_there_is(
    taskfile: Path, text: str, command: str | None
) -> None:
    [field] = read(taskfile, f"  a: {{meta: {{include_in_list: true}}, {text}}}")
    assert field.command == command


@pytest.mark.parametrize("more", ["vars: {A: 1}", "env: {A: 1}", "dotenv: [.env]", "run: once"])
def test_what_holds_for_a_whole_file_has_a_part_in_its_commands(taskfile: Path, more: str) -> None:
    [field] = read(taskfile, f"  a: {{meta: {{include_in_list: true}}, cmds: [echo 1]}}\n{more}")
    assert field.command is None
