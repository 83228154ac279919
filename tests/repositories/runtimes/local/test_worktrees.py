"""Local agents in worktrees of a repository: what they did is seen, kept and merged."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from quarterdeck.domain.projects import Project
from quarterdeck.testing.runtime_contract import RuntimeHarness
from tests.support.git import git, new_repository
from tests.support.runtimes import LocalSite

TASKFILE = """\
version: "3"
tasks:
  words:
    desc: What it says
    meta: {include_in_list: true}
    cmds: ["echo hello"]
    silent: true
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")


@pytest.fixture
async def harness(tmp_path: Path, repository: Path) -> AsyncGenerator[RuntimeHarness]:
    project = Project(id="p1", name="Setup", repository=repository, setup="echo ready > ready.txt")
    async with LocalSite(tmp_path / "home", project).harness() as harness:
        yield harness


async def test_what_agents_wrote_is_seen_in_each_ones_own_difference(
    harness: RuntimeHarness,
) -> None:
    one, other = await harness.started("one"), await harness.started("other")
    await harness.run(one, "/write note.txt hello")
    diff = await harness.runtime.diff(one)
    assert {"note.txt", "ready.txt"} == {file.path for file in diff.files}
    assert diff.branch == one.workspace.branch
    assert diff.base == one.workspace.base
    assert "+hello" in diff.patch
    untouched = await harness.runtime.diff(other)
    assert {file.path for file in untouched.files} == {"ready.txt"}


async def test_work_is_merged_into_the_branch_it_came_from(
    harness: RuntimeHarness, repository: Path
) -> None:
    spec = await harness.started()
    await harness.run(spec, "/write note.txt hello")
    merged = await harness.runtime.merge(spec, None)
    assert merged.into == "main"
    assert git(repository, "show", f"{merged.commit}:note.txt") == "hello"


async def test_a_delete_keeps_what_was_never_committed(
    harness: RuntimeHarness, repository: Path
) -> None:
    spec = await harness.started()
    await harness.run(spec, "/write note.txt hello")
    saved = await harness.runtime.delete(spec)
    assert saved
    assert saved.branch
    assert git(repository, "show", f"{saved.branch}:note.txt") == "hello"
    assert not await anyio.Path(spec.workspace.path).exists()
    assert harness.left_running() == []


async def test_a_restart_finds_the_work_as_it_was(harness: RuntimeHarness) -> None:
    spec = await harness.started()
    await harness.run(spec, "/write note.txt hello")
    await harness.runtime.restart(spec, harness.report)
    await harness.run(spec, "/read note.txt")
    assert "hello" in harness.listener.said(spec.agent_id)


async def test_the_fields_of_the_workspaces_taskfile_are_its_metadata(
    harness: RuntimeHarness, repository: Path
) -> None:
    (repository / "Taskfile.yml").write_text(TASKFILE, encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=Add fields")
    spec = await harness.started()
    fields = await harness.runtime.metadata(spec)
    assert {name: (field.value, field.error) for name, field in fields.items()} == {
        "words": ("hello", None)
    }


def test_the_protocol_is_not_loaded_before_an_agent_needs_it() -> None:
    program = "import sys, quarterdeck.repositories.runtimes.local; print('acp' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert printed.stdout.split() == [b"False"]
