"""When metadata is asked, who shares the asking, and what ends it."""

import os
from collections.abc import Mapping
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil

from quarterdeck.repositories.runtimes.metadata import MetadataCollector
from quarterdeck.repositories.runtimes.metadata_fields import MetadataField
from tests.support.taskfiles import (
    PATIENCE_SECONDS,
    Gate,
    field,
    noted_pid,
    stranger,
    until,
    until_gone,
    write_taskfile,
)

COUNTED = "echo run >> runs"


async def collect(
    collector: MetadataCollector, workspace: Path, key: str = "sony"
) -> Mapping[str, MetadataField]:
    return await collector.collect(key, workspace, None, dict(os.environ))


def runs(workspace: Path) -> int:
    path = workspace / "runs"
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


async def until_run(workspace: Path) -> None:
    await until(lambda: runs(workspace) > 0)


async def test_what_is_late_says_so_and_is_in_a_later_answer(workspace: Path) -> None:
    write_taskfile(workspace / "Taskfile.yml", {"slow": field(COUNTED, "cat gate")})
    gate = Gate(workspace)
    collector = MetadataCollector(answer_seconds=0.2, kill_seconds=40, cache_seconds=60)
    try:
        late = await collect(collector, workspace)
        assert (late["slow"].value, late["slow"].error) == (None, "Not ready in time, ask again")
        await gate.open("7")
        with anyio.fail_after(PATIENCE_SECONDS):
            while (await collect(collector, workspace))["slow"].value != 7:
                await anyio.lowlevel.checkpoint()
        assert runs(workspace) == 1
    finally:
        await collector.close()


async def test_a_field_that_hangs_is_ended_and_the_others_are_told(workspace: Path) -> None:
    tasks = {"hangs": field("cat gate"), "bad": field("exit 1", meta={})}
    write_taskfile(workspace / "Taskfile.yml", tasks)
    Gate(workspace)
    collector = MetadataCollector(answer_seconds=40, kill_seconds=0.3)
    try:
        fields = await collect(collector, workspace)
    finally:
        await collector.close()
    assert fields["hangs"].error == "Not done after 0.3 s, so it was ended"
    assert (fields["bad"].error or "").startswith("Bad meta")


async def test_many_callers_at_once_cause_one_run(
    collector: MetadataCollector, workspace: Path
) -> None:
    write_taskfile(workspace / "Taskfile.yml", {"a": field(COUNTED, "cat gate")})
    gate = Gate(workspace)
    answers: list[object] = []

    async def ask() -> None:
        answers.append((await collect(collector, workspace))["a"].value)

    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(ask)
        await until_run(workspace)
        await gate.open("ready")
    assert answers == ["ready"] * 50
    assert runs(workspace) == 1


async def test_an_answer_is_kept_for_a_while_and_then_asked_anew(workspace: Path) -> None:
    write_taskfile(workspace / "Taskfile.yml", {"a": field(COUNTED)})
    keeping = MetadataCollector(answer_seconds=40, kill_seconds=40, cache_seconds=60)
    try:
        await collect(keeping, workspace)
        await collect(keeping, workspace)
        assert runs(workspace) == 1
        await collect(keeping, workspace, key="another")
        assert runs(workspace) == 2
        keeping.forget("sony")
        keeping.forget("never heard of")
        await collect(keeping, workspace)
        assert runs(workspace) == 3
    finally:
        await keeping.close()


async def test_new_fields_are_seen_once_the_answer_is_old(workspace: Path) -> None:
    collector = MetadataCollector(answer_seconds=40, kill_seconds=40, cache_seconds=0)
    try:
        assert await collect(collector, workspace) == {}
        write_taskfile(workspace / "Taskfile.yml", {"a": field("echo 1")})
        with anyio.fail_after(PATIENCE_SECONDS):
            while not await collect(collector, workspace):
                await anyio.lowlevel.checkpoint()
    finally:
        await collector.close()


async def test_a_caller_that_goes_away_leaves_the_run_to_the_others(
    collector: MetadataCollector, workspace: Path
) -> None:
    write_taskfile(workspace / "Taskfile.yml", {"a": field(COUNTED, "cat gate")})
    gate = Gate(workspace)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect, collector, workspace)
        await until_run(workspace)
        tasks.cancel_scope.cancel()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(gate.open, "still here")
        assert (await collect(collector, workspace))["a"].value == "still here"
    assert runs(workspace) == 1


async def test_closing_leaves_nothing_running(workspace: Path) -> None:
    write_taskfile(workspace / "Taskfile.yml", {"a": field(stranger("pid"))})
    Gate(workspace)
    collector = MetadataCollector(answer_seconds=0.1, kill_seconds=60)
    await collect(collector, workspace)
    pid = await noted_pid(workspace / "pid")
    await collector.close()
    await until_gone(pid)
    assert [p for p in psutil.Process().children(recursive=True) if p.name() == "task"] == []


async def test_forgetting_an_agent_ends_what_is_asked_of_it(
    collector: MetadataCollector, workspace: Path
) -> None:
    write_taskfile(workspace / "Taskfile.yml", {"a": field(stranger("pid"))})
    Gate(workspace)
    pid = 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect, collector, workspace)
        pid = await noted_pid(workspace / "pid")
        collector.forget("sony")
    await until_gone(pid)


async def test_one_workspace_full_of_fields_that_hang_does_not_hold_up_another(
    workspace: Path, tmp_path: Path
) -> None:
    write_taskfile(workspace / "Taskfile.yml", {f"h{n}": field("cat gate") for n in range(20)})
    Gate(workspace)
    quick = tmp_path / "quick"
    quick.mkdir()
    write_taskfile(quick / "Taskfile.yml", {"a": field("echo 1")})
    collector = MetadataCollector(answer_seconds=40, kill_seconds=60, at_once=9)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collect, collector, workspace)
            fields = await collect(collector, quick, key="quick")
            assert fields["a"].value == 1
            tasks.cancel_scope.cancel()
    finally:
        await collector.close()
