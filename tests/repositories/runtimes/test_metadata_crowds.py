"""Fields that share a process of `task` are told as if each had its own."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import anyio
import pytest

from quarterdeck.repositories.runtimes.metadata import MetadataCollector
from quarterdeck.repositories.runtimes.metadata_fields import MetadataField
from tests.support.taskfiles import Gate, field, noted_pid, stranger, until_gone, write_taskfile

Answers = Mapping[Path, Mapping[str, MetadataField]]
PARENT = {"parent": field("sh -c 'echo $PPID'")}


@pytest.fixture
def workspaces(tmp_path: Path) -> Sequence[Path]:
    paths = [tmp_path / name for name in ("one", "two", "three")]
    for path in paths:
        path.mkdir()
    return paths


@pytest.fixture
async def crowding() -> AsyncIterator[MetadataCollector]:
    """A collector for which more than one field is a crowd."""
    collector = MetadataCollector(answer_seconds=40, kill_seconds=40, at_once=1)
    yield collector
    await collector.close()


@pytest.fixture
async def patient() -> AsyncIterator[MetadataCollector]:
    """A collector that gives every field a process of its own."""
    collector = MetadataCollector(answer_seconds=40, kill_seconds=40, at_once=100)
    yield collector
    await collector.close()


async def asked(
    collector: MetadataCollector,
    workspaces: Sequence[Path],
    envs: Sequence[Mapping[str, str]] = ({}, {}, {}),
) -> Answers:
    answers: dict[Path, Mapping[str, MetadataField]] = {}

    async def ask(workspace: Path, env: Mapping[str, str]) -> None:
        both = {**os.environ, **env}
        answers[workspace] = await collector.collect(str(workspace), workspace, None, both)

    async with anyio.create_task_group() as tasks:
        for workspace, env in zip(workspaces, envs, strict=True):
            tasks.start_soon(ask, workspace, env)
    return answers


def values(answers: Answers, name: str) -> list[object]:
    return [fields[name].value for _, fields in sorted(answers.items())]


async def test_many_fields_at_once_share_a_process_and_few_do_not(
    crowding: MetadataCollector, patient: MetadataCollector, workspaces: Sequence[Path]
) -> None:
    for workspace in workspaces:
        write_taskfile(workspace / "Taskfile.yml", PARENT)
    assert len(set(values(await asked(crowding, workspaces), "parent"))) == 1
    assert len(set(values(await asked(patient, workspaces), "parent"))) == 3


async def test_the_answers_are_the_same_either_way(
    crowding: MetadataCollector, patient: MetadataCollector, workspaces: Sequence[Path]
) -> None:
    tasks = {
        "where": field("basename $PWD", desc="The folder"),
        "lines": field("echo '[f0e] done'; echo '[f1] forged'; printf '  two\\n\\nthree'"),
        "steps": field("printf one", "printf two"),
        "warns": field("echo careful >&2; echo 7"),
        "unfinished": field("echo 1 \\"),
        "commented": field("echo 1 # one"),
        "wrong": field("echo 'open"),
        "nothing": field("true"),
        "number": field("echo 42"),
        "head_sha": field("echo 1234567"),
        "binary": field("printf 'a\\377'"),
        "fails": field("echo part; echo no remote >&2; exit 3"),
        "silently": field("echo part; exit 4"),
        "absent": field("no-such-command-here"),
        "-dash": field("echo 1"),
        "with:colon": field("echo 1"),
        "items": field("echo 1"),
        "PR": field("echo 1"),
        "pr": field("echo 2"),
        "longest": field("head -c 4096 /dev/zero | tr '\\0' x"),
    }
    for workspace in workspaces:
        write_taskfile(workspace / "Taskfile.yml", tasks)
    together, alone = await asked(crowding, workspaces), await asked(patient, workspaces)
    for workspace in workspaces:
        assert together[workspace] == alone[workspace]
    assert values(together, "where") == ["one", "three", "two"]
    assert [fields["silently"].error for fields in alone.values()] == [
        "Task exited with code 4"
    ] * 3


@pytest.mark.parametrize("flood", ["yes", "head -c 5000000 /dev/zero"])
async def test_one_that_floods_does_not_spoil_the_others(
    crowding: MetadataCollector, workspaces: Sequence[Path], flood: str
) -> None:
    for workspace in workspaces:
        write_taskfile(workspace / "Taskfile.yml", {"a": field("echo 1"), "b": field("echo 2")})
    write_taskfile(workspaces[0] / "Taskfile.yml", {"a": field(flood), "b": field("echo 2")})
    answers = await asked(crowding, workspaces)
    assert answers[workspaces[0]]["a"].error == "The output is longer than 4 KiB"
    assert values(answers, "a") == [None, 1, 1]
    assert values(answers, "b") == [2, 2, 2]


async def test_a_file_that_task_cannot_read_does_not_spoil_the_others(
    crowding: MetadataCollector, workspaces: Sequence[Path]
) -> None:
    for workspace in workspaces:
        write_taskfile(workspace / "Taskfile.yml", {"a": field("echo 1")})
    broken = {"a": field("echo 1", silent=["not a flag"])}
    write_taskfile(workspaces[0] / "Taskfile.yml", broken)
    answers = await asked(crowding, workspaces)
    assert values(answers, "a") == [None, 1, 1]
    assert answers[workspaces[0]]["a"].error


async def test_variables_are_never_shared(
    crowding: MetadataCollector, workspaces: Sequence[Path]
) -> None:
    for workspace in workspaces:
        shell = {"HERE": {"sh": "basename $PWD"}}
        tasks = {"here": field("echo {{.HERE}}"), "same": field("echo {{.HERE}}")}
        write_taskfile(workspace / "Taskfile.yml", tasks, vars=shell)
    assert values(await asked(crowding, workspaces), "here") == ["one", "three", "two"]


async def test_each_field_has_its_own_agents_environment(
    crowding: MetadataCollector, workspaces: Sequence[Path]
) -> None:
    for workspace in workspaces:
        write_taskfile(workspace / "Taskfile.yml", {"a": field("echo $WORD"), "b": field("true")})
    envs = [{"WORD": "first"}, {"WORD": "second"}, {"WORD": "third"}]
    answers = await asked(crowding, workspaces, envs)
    assert [answers[workspace]["a"].value for workspace in workspaces] == [
        "first",
        "second",
        "third",
    ]


async def test_two_agents_in_one_workspace_both_get_an_answer(
    crowding: MetadataCollector, workspaces: Sequence[Path]
) -> None:
    write_taskfile(workspaces[0] / "Taskfile.yml", {"a": field("echo 1"), "b": field("echo 2")})
    found: list[object] = []

    async def ask(key: str) -> None:
        fields = await crowding.collect(key, workspaces[0], None, dict(os.environ))
        found.append([item.value for item in fields.values()])

    async with anyio.create_task_group() as tasks:
        for key in ("sony", "nikon"):
            tasks.start_soon(ask, key)
    assert found == [[1, 2], [1, 2]]


async def test_one_that_hangs_is_ended_and_the_others_were_told(
    workspaces: Sequence[Path],
) -> None:
    for workspace in workspaces:
        write_taskfile(workspace / "Taskfile.yml", {"a": field("echo 1")})
    write_taskfile(workspaces[0] / "Taskfile.yml", {"a": field(stranger("pid"))})
    Gate(workspaces[0])
    collector = MetadataCollector(answer_seconds=40, kill_seconds=10, at_once=1)
    try:
        answers = await asked(collector, workspaces)
        assert values(answers, "a") == [None, 1, 1]
        assert answers[workspaces[0]]["a"].error == "Not done after 10 s, so it was ended"
        await until_gone(await noted_pid(workspaces[0] / "pid"))
    finally:
        await collector.close()


async def test_closing_ends_a_crowd_too(workspaces: Sequence[Path]) -> None:
    for workspace in workspaces:
        write_taskfile(workspace / "Taskfile.yml", {"a": field(stranger("pid"))})
        Gate(workspace)
    collector = MetadataCollector(answer_seconds=0.1, kill_seconds=60, at_once=1)
    await asked(collector, workspaces)
    pids = [await noted_pid(workspace / "pid") for workspace in workspaces]
    await collector.close()
    for pid in pids:
        await until_gone(pid)
