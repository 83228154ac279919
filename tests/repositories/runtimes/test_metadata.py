import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from quarterdeck.clients.taskfile.reading import TaskField
from quarterdeck.repositories.runtimes.metadata import MetadataCollector, Run
from quarterdeck.repositories.runtimes.metadata_fields import MetadataField
from tests.support.taskfiles import LISTED, UNLISTED, field, write_taskfile


async def told(
    collector: MetadataCollector, workspace: Path, tasks: Mapping[str, object]
) -> Mapping[str, MetadataField]:
    write_taskfile(workspace / "Taskfile.yml", tasks)
    return await collector.collect("sony", workspace, None, dict(os.environ))


async def test_fields_come_with_their_value_and_what_they_are_about(
    collector: MetadataCollector, workspace: Path
) -> None:
    tasks = {
        "pull_request_number": field("echo 810", desc="The number"),
        "git_branch": {"cmds": ["echo 005-metadata"], "meta": UNLISTED},
        "build": {"cmds": ["exit 1"]},
    }
    assert await told(collector, workspace, tasks) == {
        "pull_request_number": MetadataField(810, None, "The number", include_in_list=True),
        "git_branch": MetadataField("005-metadata", None, "No description", include_in_list=False),
    }


async def test_names_are_only_names(collector: MetadataCollector, workspace: Path) -> None:
    names = ["items", "keys", "__class__", "PR", "pr", "git:branch", "two words", "on", "ünï", "*"]
    fields = await told(collector, workspace, {name: field(f"echo '<{name}>'") for name in names})
    assert {name: fields[name].value for name in fields} == {name: f"<{name}>" for name in names}
    assert list(fields) == names


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("printf ''", None),
        ("echo 1234567", "1234567"),
        ("echo 12e3456", "12e3456"),
    ],
)
async def test_a_sha_made_of_digits_stays_text(
    collector: MetadataCollector, workspace: Path, output: str, value: str | None
) -> None:
    fields = await told(collector, workspace, {"head_sha": field(output)})
    assert (fields["head_sha"].value, fields["head_sha"].error) == (value, None)


@pytest.mark.parametrize(
    ("cmd", "error"),
    [
        ("echo; echo ' no remote ' >&2; echo more >&2; exit 3", "no remote"),
        ("exit 3", "Task exited with code 3"),
        (f"echo {'x' * 500} >&2; exit 1", "x" * 200),
        ("printf '\\033[31mred\\033[0m' >&2; exit 1", "red"),
        ("printf '\\377'", "The output is not UTF-8 text"),
        ("head -c 5000000 /dev/zero", "The output is longer than 4 KiB"),
        ("no-such-command-here", '"no-such-command-here": executable file not found in $PATH'),
    ],
)
async def test_a_field_that_fails_is_null_with_its_reason_and_counts(
    collector: MetadataCollector, workspace: Path, cmd: str, error: str
) -> None:
    fields = await told(collector, workspace, {"bad": field(cmd), "good": field("echo 1")})
    assert fields["bad"] == MetadataField(None, error, "No description", include_in_list=True)
    assert fields["good"].value == 1


async def test_what_cannot_be_asked_is_told_and_not_run(
    collector: MetadataCollector, workspace: Path
) -> None:
    tasks = {
        "--list-all": field("touch ran"),
        "x" * 257: field("touch ran"),
        "default=1": field("touch ran"),
        "default": {"cmds": ["touch ran"]},
        "bad_meta": field("touch ran", meta={"include_in_list": "yes"}),
    }
    fields = await told(collector, workspace, tasks)
    assert list(fields) == ["--list-all", "x" * 257, "default=1", "bad_meta"]
    assert all(item.value is None and item.error for item in fields.values())
    assert not fields["bad_meta"].include_in_list
    assert not (workspace / "ran").exists()


async def test_output_of_another_type_is_an_error(
    collector: MetadataCollector, workspace: Path
) -> None:
    tasks = {"count": field("echo many", meta={**LISTED, "type": "integer"})}
    fields = await told(collector, workspace, tasks)
    assert fields["count"].error == "The output is not of type integer"


def test_over_one_mebibyte_the_rest_are_errors() -> None:
    fields = [TaskField(f"f{n}", include_in_list=True) for n in range(300)]
    told = MetadataField("x" * 4096, None, "No description", include_in_list=True)
    answer = Run(fields, {item.name: told for item in fields}).answer()
    assert len(answer) == 300
    assert [item.error for item in answer.values()] == [
        *[None] * 254,
        *["More than 1 MiB of metadata"] * 46,
    ]


@pytest.mark.parametrize("content", [None, "tasks: [", "", "version: '3'\ntasks: {}\n"])
async def test_without_a_sound_taskfile_there_is_no_metadata(
    collector: MetadataCollector, workspace: Path, content: str | None
) -> None:
    if content is not None:
        (workspace / "Taskfile.yml").write_text(content, encoding="utf-8")
    assert await collector.collect("sony", workspace, None, dict(os.environ)) == {}


async def test_a_named_taskfile_takes_the_place_of_the_workspaces_own(
    collector: MetadataCollector, workspace: Path, tmp_path: Path
) -> None:
    write_taskfile(workspace / "Taskfile.yml", {"own": field("echo own")})
    shared = write_taskfile(tmp_path / "shared.yml", {"shared": field("basename $PWD")})
    fields = await collector.collect("sony", workspace, shared, dict(os.environ))
    assert {name: item.value for name, item in fields.items()} == {"shared": "workspace"}


async def test_a_workspace_that_is_gone_fails_its_fields_only(
    collector: MetadataCollector, workspace: Path, tmp_path: Path
) -> None:
    shared = write_taskfile(tmp_path / "shared.yml", {"a": field("echo 1")})
    fields = await collector.collect("sony", workspace / "gone", shared, dict(os.environ))
    assert fields["a"].error == "The task command could not be started"
