import sys
from pathlib import Path

import pytest

from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.diffing import MOST_PATCH_BYTES
from quarterdeck.repositories.workspaces.models import FileChange, WorkspacePlan
from tests.repositories.workspaces.conftest import unheard
from tests.support.git import git, new_repository


async def test_a_diff_has_commits_and_what_is_not_committed_yet(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    (plan.path / "story.txt").write_text("once\nupon\nanother time\n", encoding="utf-8")
    git(plan.path, "commit", "--all", "--message=Tell it\n\nin full")
    (plan.path / "new file.txt").write_text("new\n", encoding="utf-8")
    (plan.path / "picture.bin").write_bytes(bytes(range(256)))
    git(plan.path, "mv", ".gitignore", "renamed")
    diff = await workspaces.diff(plan)
    assert (diff.branch, diff.base) == ("quarterdeck/sony", plan.base)
    assert diff.head == git(plan.path, "rev-parse", "HEAD")
    assert [(one.id, one.subject) for one in diff.commits] == [(diff.head, "Tell it")]
    assert diff.commits[0].authored_at == git(plan.path, "log", "-1", "--format=%aI")
    assert diff.files == (
        FileChange("new file.txt", None, "added", 1, 0),
        FileChange("picture.bin", None, "added", None, None),
        FileChange("renamed", ".gitignore", "renamed", 0, 0),
        FileChange("story.txt", None, "modified", 1, 1),
    )
    assert "+another time" in diff.patch
    assert "+++ b/new file.txt" in diff.patch
    assert not diff.truncated


async def test_a_diff_changes_nothing_in_the_repository(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    before = git(repository, "count-objects")
    await workspaces.diff(plan)
    assert git(repository, "count-objects") == before
    assert git(plan.path, "status", "--porcelain") == "?? new.txt"


async def test_a_diff_ignores_the_users_ways_of_showing_one(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    for key, value in {
        "diff.external": "false",
        "diff.noprefix": "true",
        "color.ui": "always",
        "diff.renames": "false",
    }.items():
        git(repository, "config", key, value)
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    assert "+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n" in (await workspaces.diff(plan)).patch


async def test_a_patch_that_is_too_large_is_cut_and_says_so(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    (plan.path / "large.txt").write_text("line\n" * MOST_PATCH_BYTES, encoding="utf-8")
    diff = await workspaces.diff(plan)
    assert diff.truncated
    assert len(diff.patch) == MOST_PATCH_BYTES
    assert [(file.path, file.added) for file in diff.files] == [("large.txt", MOST_PATCH_BYTES)]


async def test_odd_names_are_told_apart(workspaces: Workspaces, plan: WorkspacePlan) -> None:
    odd = ["-rf", "tab\tbed", "two\nlines"]
    for name in odd:
        (plan.path / name).write_text("odd\n", encoding="utf-8")
    assert [file.path for file in (await workspaces.diff(plan)).files] == odd


@pytest.mark.skipif(sys.platform == "darwin", reason="only on systems whose names are bytes")
async def test_names_that_no_text_can_hold_are_written_out(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    (plan.path / "caf\udce9").write_text("odd\n", encoding="utf-8")
    assert [file.path for file in (await workspaces.diff(plan)).files] == ["caf\\xe9"]


async def test_a_nested_repository_is_named_and_not_shown(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    new_repository(plan.path / "inner")
    diff = await workspaces.diff(plan)
    assert diff.nested == ("inner",)
    assert diff.files == ()


async def test_a_folder_inside_a_repository_is_compared_with_its_head(
    workspaces: Workspaces, repository: Path
) -> None:
    (repository / "sub").mkdir()
    (repository / "sub" / "new.txt").write_text("new\n", encoding="utf-8")
    (repository / "outside.txt").write_text("not shown\n", encoding="utf-8")
    plan = await workspaces.plan("sony", "abcd1234", repository=None, folder=repository / "sub")
    diff = await workspaces.diff(plan)
    assert [file.path for file in diff.files] == ["new.txt"]
    assert (diff.branch, diff.base) == ("main", git(repository, "rev-parse", "HEAD"))


async def test_a_repository_without_commits_is_compared_with_nothing(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet", "fresh")
    (tmp_path / "fresh" / "new.txt").write_text("new\n", encoding="utf-8")
    plan = await workspaces.plan("sony", "abcd1234", repository=None, folder=tmp_path / "fresh")
    assert [file.path for file in (await workspaces.diff(plan)).files] == ["new.txt"]


async def test_a_folder_without_git_has_an_empty_diff_with_a_reason(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    plan = await workspaces.plan("sony", "abcd1234", repository=None, folder=tmp_path / "notes")
    diff = await workspaces.diff(plan)
    assert diff.files == ()
    assert diff.reason == "the folder is not in a git repository"


async def test_a_folder_of_the_agents_own_is_not_taken_for_part_of_a_repository_above_it(
    repository: Path,
) -> None:
    workspaces = Workspaces(repository)
    plan = await workspaces.plan("sony", "abcd1234", repository=None, folder=None)
    await workspaces.prepare(plan, unheard)
    assert (await workspaces.diff(plan)).reason


async def test_a_workspace_that_is_gone_has_an_empty_diff_with_a_reason(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    await workspaces.remove(plan, name="sony")
    assert "there is no folder" in ((await workspaces.diff(plan)).reason or "")
