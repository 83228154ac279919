"""One field of a workspace: asked of `task`, and told as a value or as what went wrong."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from quarterdeck.clients.taskfile.reading import TaskField
from quarterdeck.clients.taskfile.running import MOST_OUTPUT, Finished, TooMuchOutput, run_field
from quarterdeck.domain.metadata import MetadataField
from quarterdeck.repositories.runtimes.metadata_values import Unfit, value_of

MOST_ERROR = 200
# What `task` adds to a failure: it tells less than the command's own words.
TASK_REMARK = re.compile(r"task: Failed to run task .*")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Place:
    """Where fields are asked: with which command, of which file, in which folder, as whom."""

    task: Path | None
    taskfile: Path
    workspace: Path
    env: Mapping[str, str]


def failed(field: TaskField, error: str) -> MetadataField:
    return MetadataField(None, error, field.description, field.include_in_list)


def overdue(field: TaskField, seconds: float) -> MetadataField:
    return failed(field, f"Not done after {seconds:g} s, so it was ended")


async def ask(field: TaskField, place: Place, *, kill_seconds: float) -> MetadataField:
    """Return the field, within `kill_seconds` and a little for the end of its processes."""
    if field.problem:
        return failed(field, field.problem)
    if place.task is None:
        return failed(field, "The task command is not installed")
    try:
        with anyio.fail_after(kill_seconds):
            finished = await run_field(
                field.name,
                task=place.task,
                taskfile=place.taskfile,
                workspace=place.workspace,
                env=place.env,
            )
    except TimeoutError:
        return overdue(field, kill_seconds)
    except TooMuchOutput:
        return failed(field, f"The output is longer than {MOST_OUTPUT // 1024} KiB")
    except (OSError, ValueError):
        return failed(field, "The task command could not be started")
    return told(field, finished)


def told(field: TaskField, finished: Finished) -> MetadataField:
    if finished.exit_code != 0:
        return failed(field, _complaint(finished))
    try:
        value = value_of(finished.output.decode(), field.name, field.value_type)
    except UnicodeDecodeError:
        return failed(field, "The output is not UTF-8 text")
    except Unfit as error:
        return failed(field, str(error))
    return MetadataField(value, None, field.description, field.include_in_list)


def _complaint(finished: Finished) -> str:
    """Return the first line that says something, else the exit code."""
    text = CONTROL.sub("", finished.complaint.decode("utf-8", "replace"))
    lines = (TASK_REMARK.sub("", line).strip() for line in text.splitlines())
    return next(filter(None, lines), f"Task exited with code {finished.exit_code}")[:MOST_ERROR]
