import os
from pathlib import Path

import pytest

from quarterdeck.errors import GitMissing, InvalidInput
from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.models import WorkspacePlan
from tests.support.git import branches, entries, git, new_repository


async def test_a_plan_names_a_folder_a_branch_and_a_commit_and_makes_nothing(
    workspaces: Workspaces, repository: Path, home: Path
) -> None:
    plan = await workspaces.plan("sony", "0001-abcd1234", repository=repository, folder=None)
    assert plan == WorkspacePlan(
        kind="worktree",
        path=home / "workspaces" / "sony-abcd1234",
        repository=repository,
        branch="quarterdeck/sony",
        base=git(repository, "rev-parse", "main"),
        target="main",
    )
    assert branches(repository) == ["main"]
    assert entries(home) == []


async def test_a_branch_that_exists_gives_way_to_one_with_an_end_of_its_own(
    workspaces: Workspaces, repository: Path
) -> None:
    git(repository, "branch", "quarterdeck/Sony")
    plan = await workspaces.plan("sony", "abcd1234", repository=repository, folder=None)
    assert plan.branch == "quarterdeck/sony-abcd1234"


async def test_a_branch_called_like_our_folder_of_branches_is_no_obstacle(
    workspaces: Workspaces, repository: Path
) -> None:
    git(repository, "branch", "quarterdeck")
    plan = await workspaces.plan("sony", "abcd1234", repository=repository, folder=None)
    assert plan.branch == "quarterdeck-sony"


async def test_a_base_may_be_a_branch_a_tag_or_a_commit(
    workspaces: Workspaces, repository: Path
) -> None:
    first = git(repository, "rev-parse", "main")
    git(repository, "tag", "v1")
    git(repository, "commit", "--allow-empty", "--message=Second")
    for base in ("v1", first):
        plan = await workspaces.plan(
            "sony", "abcd1234", repository=repository, folder=None, base=base
        )
        assert (plan.base, plan.target) == (first, None)


async def test_an_unknown_base_is_refused_with_the_name_that_was_meant(
    workspaces: Workspaces, repository: Path
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await workspaces.plan("sony", "abcd1234", repository=repository, folder=None, base="mian")
    assert refused.value.hint == "did you mean 'main'?"


async def test_a_base_that_looks_like_an_option_is_only_a_name(
    workspaces: Workspaces, repository: Path
) -> None:
    with pytest.raises(InvalidInput, match="--all"):
        await workspaces.plan("sony", "abcd1234", repository=repository, folder=None, base="--all")


async def test_a_bare_repository_can_be_planned_on(
    workspaces: Workspaces, repository: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    bare = (tmp_path / "bare.git").resolve()
    plan = await workspaces.plan("sony", "abcd1234", repository=bare, folder=None)
    assert plan.repository == bare


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("absent", "is not there"),
        ("plain", "is not a git repository"),
        ("fresh", "has no commit yet"),
        ("project/sub", "is a folder inside a repository"),
        ("project/.git", "is a folder inside a repository"),
        ("home/workspaces/other", "is a workspace of an agent"),
    ],
)
async def test_what_is_no_usable_repository_is_refused_with_what_to_do(
    workspaces: Workspaces, repository: Path, tmp_path: Path, place: str, problem: str
) -> None:
    (tmp_path / "plain").mkdir()
    (repository / "sub").mkdir()
    git(tmp_path, "init", "--quiet", "fresh")
    new_repository(tmp_path / "home" / "workspaces" / "other")
    with pytest.raises(InvalidInput, match=problem) as refused:
        await workspaces.plan("sony", "abcd1234", repository=tmp_path / place, folder=None)
    assert refused.value.hint


@pytest.mark.parametrize("pattern", ["/etc/passwd", "../secrets", "a/../../b", ""])
async def test_a_pattern_of_files_to_copy_stays_inside_the_repository(
    workspaces: Workspaces, repository: Path, pattern: str
) -> None:
    with pytest.raises(InvalidInput, match="inside the repository"):
        await workspaces.plan(
            "sony", "abcd1234", repository=repository, folder=None, copy=[pattern]
        )


async def test_a_folder_is_used_in_place_and_must_be_there(
    workspaces: Workspaces, home: Path, tmp_path: Path
) -> None:
    plan = await workspaces.plan("sony", "abcd1234", repository=None, folder=home.parent)
    assert plan == WorkspacePlan(kind="folder", path=home.parent)
    with pytest.raises(InvalidInput, match="is not a folder"):
        await workspaces.plan("sony", "abcd1234", repository=None, folder=tmp_path / "absent")
    with pytest.raises(InvalidInput, match="used as it is"):
        await workspaces.plan("sony", "abcd1234", repository=None, folder=tmp_path, setup="make")


async def test_a_project_with_neither_gets_a_folder_of_its_own(
    workspaces: Workspaces, home: Path
) -> None:
    plan = await workspaces.plan("so/ny", "abcd1234", repository=None, folder=None)
    assert plan == WorkspacePlan(kind="scratch", path=home / "workspaces" / "so-ny-abcd1234")


async def test_without_git_the_error_says_to_install_it(
    workspaces: Workspaces, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(GitMissing) as missing:
        await workspaces.plan("sony", "abcd1234", repository=repository, folder=None)
    assert missing.value.hint
    assert "2.38" in missing.value.hint


async def test_a_git_that_is_too_old_is_refused(
    workspaces: Workspaces, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.37.9\n", encoding="utf-8")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitMissing, match="too old"):
        await workspaces.plan("sony", "abcd1234", repository=repository, folder=None)
