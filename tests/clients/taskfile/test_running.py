import os
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from quarterdeck.clients.taskfile.binary import find_task
from quarterdeck.clients.taskfile.running import MOST_OUTPUT, Finished, TooMuchOutput, run_field
from tests.support.taskfiles import (
    Gate,
    field,
    noted_pid,
    stranger,
    until_gone,
    write_taskfile,
)


async def run(workspace: Path, *cmds: str, env: Mapping[str, str] | None = None) -> Finished:
    taskfile = write_taskfile(workspace / "Taskfile.yml", {"a": field(*cmds)})
    task = find_task()
    assert task is not None
    return await run_field(
        "a", task=task, taskfile=taskfile, workspace=workspace, env=env or dict(os.environ)
    )


async def test_what_a_field_prints_is_returned_as_it_is(tmp_path: Path) -> None:
    finished = await run(tmp_path, "echo one", "printf 'two\\377'", "echo hm >&2")
    assert finished == Finished(0, b"one\ntwo\xff", b"hm\n")


async def test_the_exit_code_is_the_commands_own(tmp_path: Path) -> None:
    finished = await run(tmp_path, "exit 7")
    assert finished.exit_code == 7


async def test_a_field_has_no_input_and_only_the_environment_it_is_given(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "GIVEN": "yes"}
    finished = await run(tmp_path, "cat", "echo ${GIVEN}-${HOME}", env=env)
    assert finished.output == b"yes-\n"


async def test_a_field_runs_in_the_workspace_wherever_its_taskfile_is(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    taskfile = write_taskfile(tmp_path / "shared.yml", {"a": field("pwd")})
    task = find_task()
    assert task is not None
    finished = await run_field(
        "a", task=task, taskfile=taskfile, workspace=workspace, env=dict(os.environ)
    )
    assert finished.output.decode().strip() == str(workspace)


async def test_as_much_output_as_a_field_may_have_is_taken(tmp_path: Path) -> None:
    finished = await run(tmp_path, f"head -c {MOST_OUTPUT} /dev/zero")
    assert len(finished.output) == MOST_OUTPUT


@pytest.mark.parametrize(
    "flood", [f"head -c {MOST_OUTPUT + 1} /dev/zero", "head -c 5000000 /dev/zero"]
)
async def test_more_output_is_refused(tmp_path: Path, flood: str) -> None:
    with pytest.raises(TooMuchOutput):
        await run(tmp_path, flood)


async def test_a_field_that_never_stops_printing_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TooMuchOutput):
        await run(tmp_path, "sh -c 'echo $$ > pid; exec yes'")
    await until_gone(await noted_pid(tmp_path / "pid"))


async def test_complaints_may_be_long(tmp_path: Path) -> None:
    finished = await run(tmp_path, "head -c 300000 /dev/zero >&2", "echo fine")
    assert (finished.exit_code, finished.output) == (0, b"fine\n")
    assert len(finished.complaint) <= MOST_OUTPUT + 1


async def test_what_a_field_puts_into_the_background_does_not_stay(tmp_path: Path) -> None:
    Gate(tmp_path)
    finished = await run(tmp_path, "sh -c 'sh -c \"echo \\$\\$ > pid; exec cat gate\" & echo on'")
    assert finished.output == b"on\n"
    if (tmp_path / "pid").exists():  # it may have been ended before it could note that
        await until_gone(await noted_pid(tmp_path / "pid"))


async def test_ending_a_field_ends_children_that_left_its_group(tmp_path: Path) -> None:
    Gate(tmp_path)
    pid = 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, tmp_path, stranger("pid"))
        pid = await noted_pid(tmp_path / "pid")
        assert os.getsid(pid) == pid
        tasks.cancel_scope.cancel()
    await until_gone(pid)
