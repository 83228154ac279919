"""The metadata of workspaces as the contract has it, its five scenarios and every fault.

Each project is a repository with a Taskfile of its own, asked by the real `task` in the worktree of
an agent that runs.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
import yaml

from tests.support.git import git
from tests.support.mcp_fleets import PATIENCE_SECONDS, Json, McpFleet, fleet, repository_with

LISTED = {"include_in_list": True}
UNLISTED = {"include_in_list": False}

FULL: Json = {
    "pull_request_number": {"desc": "The number of the pull request.", "meta": LISTED}
    | {"cmds": ["echo 810"]},
    "pull_request_status": {"desc": "Its status.", "meta": UNLISTED, "cmds": ["echo open"]},
    "git_branch": {"meta": UNLISTED, "cmds": ["git branch --show-current"]},
    "build": {"desc": "No field, because it has no meta.", "cmds": ["exit 1"]},
}
VALUES: Json = {
    "sha": {"meta": LISTED, "cmds": ["echo 12345678"]},
    "commit_id": {"meta": LISTED, "cmds": ["echo 0042"]},
    "file_hash": {"meta": LISTED, "cmds": ["echo 7"]},
    "app_version": {"meta": LISTED, "cmds": ["echo 3"]},
    "branch": {"meta": LISTED, "cmds": ["echo true"]},
    "zeros": {"meta": LISTED, "cmds": ["echo 007"]},
    "count": {"meta": LISTED, "cmds": ["echo -12"]},
    "half": {"meta": LISTED, "cmds": ["echo 0.5"]},
    "flag": {"meta": LISTED, "cmds": ["echo true"]},
    "nothing": {"meta": LISTED, "cmds": ["echo null"]},
    "silent": {"meta": LISTED, "cmds": ["true"]},
    "deep": {"meta": LISTED, "cmds": ["echo '{\"a\": [1, null]}'"]},
    "typed": {"meta": LISTED | {"type": "string"}, "cmds": ["echo 42"]},
    "number": {"meta": LISTED | {"type": "number"}, "cmds": ["echo 0.5"]},
    "text": {"meta": LISTED, "cmds": ["echo two words"]},
}
FAULTS: Json = {
    "good": {"desc": "The one that works", "meta": LISTED, "cmds": ["echo fine"]},
    "failing": {"meta": LISTED, "cmds": ["echo no such thing >&2; exit 3"]},
    "foreign": {"meta": LISTED, "cmds": [r"printf '\377\376'"]},
    "huge": {"meta": LISTED, "cmds": ["head -c 5242880 /dev/zero | tr '\\0' x"]},
    "a-bit-much": {"meta": LISTED, "cmds": ["head -c 4097 /dev/zero | tr '\\0' x"]},
    "just-enough": {"meta": LISTED, "cmds": ["head -c 4096 /dev/zero | tr '\\0' x"]},
    "-dash": {"meta": LISTED, "cmds": ["echo never"]},
    "n" * 257: {"meta": LISTED, "cmds": ["echo never"]},
    "bad-meta": {"meta": {"include_in_list": "yes please"}, "cmds": ["echo never"]},
    "wrong-type": {"meta": LISTED | {"type": "integer"}, "cmds": ["echo many"]},
    "hanging": {"meta": LISTED, "cmds": ["sleep 600"]},
}
# What each of them says of itself, in some words.
ERRORS = {
    "failing": "",
    "foreign": "UTF-8",
    "huge": "4 KiB",
    "a-bit-much": "4 KiB",
    "-dash": "'-'",
    "n" * 257: "256",
    "bad-meta": "meta",
    "wrong-type": "integer",
    "hanging": "",
}
LATE = "Not ready in time"


def taskfile(tasks: Json) -> str:
    return yaml.safe_dump({"version": "3", "silent": True, "tasks": tasks}, sort_keys=False)


TASKFILES = {
    "full": taskfile(FULL),
    "none": None,
    "partial": taskfile(FULL | {"failing": FAULTS["failing"]}),
    "excluded": taskfile({name: FULL[name] | {"meta": UNLISTED} for name in ("git_branch",)}),
    "values": taskfile(VALUES),
    "faults": taskfile(FAULTS),
    "broken": "version: '3'\ntasks:\n  a: [unclosed\n",
    "no-tasks": "version: '3'\n",
}


@pytest.fixture(scope="module")
async def crew(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[McpFleet]:
    """One idle agent on each project, and named like it."""
    folder = tmp_path_factory.mktemp("crew")
    projects = {
        name: {"repository": repository_with(folder / name, text)}
        for name, text in TASKFILES.items()
    }
    async with fleet(folder, projects=projects) as opened:
        for name in TASKFILES:
            await opened.create(name, project=name)
        for name in TASKFILES:
            await opened.until(name, "idle")
        yield opened


async def shown(crew: McpFleet, name: str, **more: object) -> Json:
    """Show an agent; what a loaded machine was late with is asked for again."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while True:
            agent = (await crew.call("show_agent", agent_name=name, **more))["agent"]
            errors = {field: told["error"] for field, told in agent["metadata"].items()}
            errors.pop("hanging", None)
            if not any(LATE in (error or "") for error in errors.values()):
                return agent
            await anyio.sleep(0.1)


async def listed(crew: McpFleet, **more: object) -> dict[str, Json]:
    """List agents once all that they were asked for is known, which a list cannot say."""
    if more.get("include_metadata", True):
        for name in TASKFILES:
            await shown(crew, name)
    return {row["name"]: row for row in (await crew.call("list_agents", **more))["agents"]}


async def test_show_agent_with_full_metadata(crew: McpFleet) -> None:
    agent = await shown(crew, "full")
    assert agent["metadata_count"] == 3
    assert agent["metadata"] == {
        "pull_request_number": {
            "value": 810,
            "error": None,
            "schema": {"description": "The number of the pull request.", "include_in_list": True},
        },
        "pull_request_status": {
            "value": "open",
            "error": None,
            "schema": {"description": "Its status.", "include_in_list": False},
        },
        "git_branch": {
            "value": agent["branch"],
            "error": None,
            "schema": {"description": "No description", "include_in_list": False},
        },
    }
    assert "metadata_skipped" not in agent


async def test_show_agent_with_no_metadata(crew: McpFleet) -> None:
    for name in ("none", "broken", "no-tasks"):
        agent = await shown(crew, name)
        assert (agent["metadata_count"], agent["metadata"]) == (0, {}), name
        assert "metadata_skipped" not in agent, "it was asked, and said nothing"


async def test_show_agent_with_partial_metadata(crew: McpFleet) -> None:
    agent = await shown(crew, "partial")
    assert agent["metadata_count"] == 4
    assert agent["metadata"]["pull_request_number"]["value"] == 810
    failing = agent["metadata"]["failing"]
    assert failing["value"] is None
    assert "no such thing" in failing["error"]


async def test_list_agents_with_mixed_metadata(crew: McpFleet) -> None:
    rows = await listed(crew)
    assert rows.keys() == TASKFILES.keys(), "metadata never hides an agent"
    counts = {name: (row["metadata_count"], row["metadata"]) for name, row in rows.items()}
    assert counts["full"] == (3, {"pull_request_number": 810})
    assert counts["partial"] == (4, {"pull_request_number": 810, "failing": None})
    assert counts["excluded"] == (1, {})
    assert counts["none"] == counts["broken"] == counts["no-tasks"] == (0, {})


async def test_list_agents_with_no_metadata(crew: McpFleet) -> None:
    for name in ("none", "broken", "no-tasks"):
        rows = await listed(crew, project_filter=name)
        assert [(row["metadata_count"], row["metadata"]) for row in rows.values()] == [(0, {})]


async def test_values_are_what_they_say_and_a_sha_of_digits_stays_a_text(crew: McpFleet) -> None:
    row = (await listed(crew, project_filter="values"))["values"]
    assert row["metadata"] == {
        "sha": "12345678",
        "commit_id": "0042",
        "file_hash": "7",
        "app_version": "3",
        "branch": "true",
        "zeros": "007",
        "count": -12,
        "half": "0.5",
        "flag": True,
        "nothing": None,
        "silent": None,
        "deep": {"a": [1, None]},
        "typed": "42",
        "number": 0.5,
        "text": "two words",
    }
    fields = (await shown(crew, "values"))["metadata"]
    assert {name: field["error"] for name, field in fields.items() if field["error"]} == {}


async def test_a_field_that_fails_is_null_says_why_and_counts(crew: McpFleet) -> None:
    agent = await shown(crew, "faults")
    fields = agent["metadata"]
    assert agent["metadata_count"] == len(FAULTS)
    assert list(fields) == list(FAULTS)
    assert {name for name, field in fields.items() if field["error"]} == ERRORS.keys()
    for name, words in ERRORS.items():
        assert fields[name]["value"] is None, name
        assert words in fields[name]["error"], name
        assert "\n" not in fields[name]["error"]
    assert fields["good"]["value"] == "fine"
    assert len(fields["just-enough"]["value"]) == 4096
    unlisted = {name for name, field in fields.items() if not field["schema"]["include_in_list"]}
    assert unlisted == {"bad-meta"}


async def test_a_list_shows_a_field_that_failed_as_null(crew: McpFleet) -> None:
    row = (await listed(crew, project_filter="faults"))["faults"]
    assert row["metadata_count"] == len(FAULTS)
    assert row["metadata"].keys() == FAULTS.keys() - {"bad-meta"}
    nulls = {name for name, value in row["metadata"].items() if value is None}
    assert nulls == ERRORS.keys() - {"bad-meta"}


async def test_metadata_that_is_not_wanted_is_not_asked_for(crew: McpFleet) -> None:
    agent = await shown(crew, "full", include_metadata=False)
    rows = await listed(crew, include_metadata=False)
    for each in (agent, *rows.values()):
        assert (each["metadata_count"], each["metadata"]) == (0, {})
        assert each["metadata_skipped"] is True


async def test_only_an_agent_that_runs_is_asked(crew: McpFleet) -> None:
    await crew.create("down", project="full", role="broken")
    await crew.until("down", "failed")
    agent = await shown(crew, "down")
    assert (agent["metadata_count"], agent["metadata"]) == (0, {})
    assert agent["metadata_skipped"] is True
    await crew.call("delete_agent", agent_name="down")


async def test_a_taskfile_that_the_agent_writes_is_read_too(crew: McpFleet) -> None:
    await crew.create("writer", project="none")
    workspace = Path((await crew.until("writer", "idle"))["workspace"])
    text = taskfile({"mood": {"meta": LISTED, "cmds": ["echo good"]}})
    (workspace / "Taskfile.yml").write_text(text, encoding="utf-8")
    row = (await listed(crew, project_filter="none"))["writer"]
    assert row["metadata"] == {"mood": "good"}
    await crew.call("delete_agent", agent_name="writer")
    assert git(crew.folder / "none", "status", "--porcelain") == ""
