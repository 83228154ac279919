from pathlib import Path

import pytest

from quarterdeck.errors import Conflict, InvalidInput, MergeConflict, NotFound
from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.models import Pushed, WorkspacePlan
from tests.support.git import branches, git


def show(repository: Path, name: str) -> str:
    return git(repository, "show", name)


@pytest.fixture
def elsewhere(repository: Path) -> Path:
    """The repository with another branch than `main` checked out."""
    git(repository, "checkout", "--quiet", "-b", "other")
    return repository


async def test_a_merge_takes_what_is_not_committed_yet_and_leaves_the_worktree_clean(
    workspaces: Workspaces, plan: WorkspacePlan, elsewhere: Path
) -> None:
    git(plan.path, "commit", "--allow-empty", "--message=Committed")
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    merged = await workspaces.merge(plan, message="Take it")
    assert (merged.into, merged.changed) == ("main", True)
    assert merged.commit == git(elsewhere, "rev-parse", "main")
    assert git(elsewhere, "log", "-1", "--format=%s", "main") == "Take it"
    assert show(elsewhere, "main:new.txt") == "new"
    assert git(plan.path, "status", "--porcelain") == ""


async def test_a_merge_into_a_branch_that_is_not_checked_out_touches_no_work_tree(
    workspaces: Workspaces, plan: WorkspacePlan, elsewhere: Path
) -> None:
    (elsewhere / "story.txt").write_text("in the middle of something\n", encoding="utf-8")
    (plan.path / "story.txt").write_text("told\n", encoding="utf-8")
    await workspaces.merge(plan)
    assert show(elsewhere, "main:story.txt") == "told"
    assert (elsewhere / "story.txt").read_text(encoding="utf-8") == "in the middle of something\n"
    assert git(elsewhere, "branch", "--show-current") == "other"


async def test_a_merge_into_a_branch_that_is_checked_out_clean_brings_its_files_along(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (repository / "beside.txt").write_text("untracked\n", encoding="utf-8")
    (plan.path / "story.txt").write_text("told\n", encoding="utf-8")
    await workspaces.merge(plan)
    assert (repository / "story.txt").read_text(encoding="utf-8") == "told\n"
    assert git(repository, "status", "--porcelain") == "?? beside.txt"


async def test_a_merge_into_a_branch_that_is_checked_out_with_changes_is_refused(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    before = git(repository, "rev-parse", "main")
    (repository / "story.txt").write_text("theirs\n", encoding="utf-8")
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    with pytest.raises(Conflict, match="checked out"):
        await workspaces.merge(plan)
    assert git(repository, "rev-parse", "main") == before
    assert (repository / "story.txt").read_text(encoding="utf-8") == "theirs\n"


async def test_a_merge_that_would_overwrite_an_untracked_file_is_refused(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (repository / "new.txt").write_text("theirs\n", encoding="utf-8")
    (plan.path / "new.txt").write_text("ours\n", encoding="utf-8")
    with pytest.raises(Conflict):
        await workspaces.merge(plan)
    assert (repository / "new.txt").read_text(encoding="utf-8") == "theirs\n"
    assert git(repository, "status", "--porcelain") == "?? new.txt"


async def test_conflicts_are_listed_and_change_nothing(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (repository / "story.txt").write_text("theirs\n", encoding="utf-8")
    git(repository, "commit", "--all", "--message=Theirs")
    before = git(repository, "rev-parse", "main")
    (plan.path / "story.txt").write_text("ours\n", encoding="utf-8")
    with pytest.raises(MergeConflict) as refused:
        await workspaces.merge(plan)
    assert refused.value.files == ("story.txt",)
    assert git(repository, "rev-parse", "main") == before
    assert git(repository, "status", "--porcelain") == ""


async def test_merging_twice_changes_nothing_more(
    workspaces: Workspaces, plan: WorkspacePlan, elsewhere: Path
) -> None:
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    first = await workspaces.merge(plan)
    second = await workspaces.merge(plan)
    assert (second.commit, second.changed) == (first.commit, False)


async def test_a_merge_in_the_middle_of_a_merge_is_refused(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    for place, text in ((plan.path, "ours\n"), (repository, "theirs\n")):
        (place / "story.txt").write_text(text, encoding="utf-8")
        git(place, "commit", "--all", "--message=Change")
    git(plan.path, "merge", "main", check=False)
    with pytest.raises(Conflict, match="in the middle of a merge"):
        await workspaces.merge(plan)


async def test_an_unknown_branch_and_the_agents_own_are_refused(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await workspaces.merge(plan, into="mian")
    assert refused.value.hint == "did you mean 'main'?"
    with pytest.raises(InvalidInput, match="own branch"):
        await workspaces.merge(plan, into="quarterdeck/sony")


async def test_merged_work_needs_no_saving_and_its_branch_goes_with_the_worktree(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    await workspaces.merge(plan)
    assert await workspaces.remove(plan, name="sony") is None
    assert branches(repository) == ["main"]
    with pytest.raises(NotFound, match="is gone"):
        await workspaces.merge(plan)


@pytest.fixture
def remote(repository: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "remote.git")
    git(repository, "remote", "add", "origin", str(tmp_path / "remote.git"))
    return tmp_path / "remote.git"


async def test_a_push_takes_what_is_not_committed_yet_to_a_branch_of_the_remote(
    workspaces: Workspaces, plan: WorkspacePlan, remote: Path
) -> None:
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    pushed = await workspaces.push(plan)
    assert pushed == Pushed("origin", "quarterdeck/sony", git(plan.path, "rev-parse", "HEAD"))
    assert show(remote, "quarterdeck/sony:new.txt") == "new"
    await workspaces.push(plan, remote="origin", branch="fix/login")
    assert show(remote, "fix/login:new.txt") == "new"


async def test_a_push_that_would_drop_commits_of_the_remote_is_refused(
    workspaces: Workspaces, plan: WorkspacePlan, remote: Path, repository: Path
) -> None:
    git(repository, "commit", "--allow-empty", "--message=Theirs")
    git(repository, "push", "origin", "main")
    git(plan.path, "commit", "--allow-empty", "--message=Ours")
    with pytest.raises(Conflict, match="did not take"):
        await workspaces.push(plan, branch="main")
    assert git(remote, "log", "-1", "--format=%s", "main") == "Theirs"


@pytest.mark.parametrize("name", ["upstream", "--upload-pack=touch x", "ext::sh -c true"])
async def test_a_remote_that_the_repository_does_not_know_is_refused(
    workspaces: Workspaces, plan: WorkspacePlan, remote: Path, name: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await workspaces.push(plan, remote=name)
    assert refused.value.hint == "its remotes: origin"
    with pytest.raises(InvalidInput, match="no branch"):
        await workspaces.push(plan, branch="a b")
