"""Fields of several workspaces in one process of `task`, for when there are many to ask.

A start of `task` costs some 50 ms of a core, whatever it then does. A Taskfile of ours holds the
commands of all fields, and `task` marks each line of output with the field it belongs to.
"""

import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream

from quarterdeck.clients.taskfile.running import MOST_OUTPUT, OPTIONS, TooMuchOutput, started, swept

# Room for the mark before the longest output that is taken.
MOST_LINE = MOST_OUTPUT + 1024
MARKED = re.compile(rb"\[f(?P<number>\d+)(?P<is_end>e?)\] (?P<text>.*)", re.DOTALL)
# Marked lines hold both streams, and a complaint is no part of a value.
UNHEARD = "exec 2>/dev/null\n"


@dataclass(frozen=True)
class Job:
    """One field to run: a single command, in a folder."""

    command: str
    workspace: Path


async def run_together(
    jobs: Sequence[Job],
    *,
    task: Path,
    env: Mapping[str, str],
    tell: Callable[[int, bytes | None], None],
) -> None:
    """Run all jobs side by side, and tell of each, by its index, as soon as it ends.

    What is told is what it printed, or `None` when it failed. What was not told when this returns
    or raises was ended with the others, and has to be asked anew.

    Raises:
        TooMuchOutput: One of them printed more than it may, and all were ended.
        OSError: The process could not be started.
    """
    with tempfile.TemporaryDirectory(prefix="quarterdeck-") as folder:
        taskfile = Path(folder) / "Taskfile.yml"
        # JSON is YAML in which nothing needs care.
        taskfile.write_text(json.dumps(_taskfile(jobs)), encoding="utf-8")
        names = [f"f{number}e" for number in range(len(jobs))]
        command = [str(task), *OPTIONS, "--parallel", "--taskfile", str(taskfile), *names]
        async with started(command, cwd=Path(folder), env=env) as process:
            outputs = _Outputs(jobs, tell)
            assert process.stdout is not None
            assert process.stderr is not None
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_drain, process.stderr)
                tasks.start_soon(swept, process)
                await _feed(process.stdout, outputs)
                if outputs.is_too_much:
                    tasks.cancel_scope.cancel()
    if outputs.is_too_much:
        raise TooMuchOutput


def _taskfile(jobs: Sequence[Job]) -> Mapping[str, object]:
    """Return two tasks a job: what it prints cannot be taken for the end that the other tells.

    The deferred word comes last in any case, and counts when it comes alone.
    """
    tasks: dict[str, object] = {}
    for number, job in enumerate(jobs):
        told = [{"defer": "echo failed"}, {"task": f"f{number}"}, "echo done"]
        tasks[f"f{number}e"] = {"cmds": told}
        tasks[f"f{number}"] = {"dir": str(job.workspace), "cmds": [UNHEARD + job.command]}
    return {"version": "3", "output": "prefixed", "tasks": tasks}


class _Outputs:
    """What each job has said so far, and the telling when one has ended."""

    def __init__(self, jobs: Sequence[Job], tell: Callable[[int, bytes | None], None]) -> None:
        self._said = [bytearray() for _ in jobs]
        self._ended: set[int] = set()
        self._tell = tell
        self.is_too_much = False

    def take(self, line: bytes) -> None:
        marked = MARKED.fullmatch(line)
        if not marked or self.is_too_much:
            return
        number, text = int(marked["number"]), marked["text"]
        said = self._said[number]
        if not marked["is_end"]:
            said += text + b"\n"
        elif number not in self._ended:
            self._ended.add(number)
            self._tell(number, bytes(said) if text == b"done" else None)
        # The last end of line may be of `task`, not of the command.
        self.is_too_much = self.is_too_much or len(said) > MOST_OUTPUT + 1


async def _feed(stream: ByteReceiveStream, outputs: _Outputs) -> None:
    rest = b""
    async for chunk in stream:
        *lines, rest = (rest + chunk).split(b"\n")
        rest = rest[:MOST_LINE]
        for line in lines:
            outputs.take(line[:MOST_LINE])
        if outputs.is_too_much:
            return


async def _drain(stream: ByteReceiveStream) -> None:
    async for _ in stream:
        pass
