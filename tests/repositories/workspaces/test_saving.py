import os
import sys
from pathlib import Path

import pytest

from quarterdeck.errors import WorkNotSaved
from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.models import Saved, WorkspacePlan
from tests.support.git import branches, git, new_repository, worktrees

SAVED = "quarterdeck-saved/sony-abcd1234"


def content(repository: Path, name: str, branch: str = SAVED) -> str:
    return git(repository, "show", f"{branch}:{name}")


def names(repository: Path, branch: str = SAVED) -> set[str]:
    return set(git(repository, "ls-tree", "-r", "-z", "--name-only", branch).split("\0")) - {""}


async def test_an_untouched_worktree_has_nothing_to_save(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    assert await workspaces.save(plan, "sony") is None


async def test_staged_unstaged_and_untracked_work_is_saved_and_ignored_files_are_not(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (plan.path / "story.txt").write_text("changed\n", encoding="utf-8")
    (plan.path / "staged.txt").write_text("staged\n", encoding="utf-8")
    git(plan.path, "add", "staged.txt")
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    (plan.path / "x.log").write_text("ignored\n", encoding="utf-8")
    saved = await workspaces.save(plan, "sony")
    assert saved
    assert saved.branch == SAVED
    assert content(repository, "story.txt") == "changed"
    assert names(repository) == {".gitignore", "story.txt", "staged.txt", "new.txt"}


async def test_saving_touches_neither_index_nor_files(
    workspaces: Workspaces, plan: WorkspacePlan
) -> None:
    (plan.path / "staged.txt").write_text("staged\n", encoding="utf-8")
    git(plan.path, "add", "staged.txt")
    (plan.path / "story.txt").unlink()
    before = git(plan.path, "status", "--porcelain")
    await workspaces.save(plan, "sony")
    assert git(plan.path, "status", "--porcelain") == before


async def test_what_was_staged_and_changed_again_is_saved_both_ways(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (plan.path / "a.txt").write_text("staged\n", encoding="utf-8")
    git(plan.path, "add", "a.txt")
    (plan.path / "a.txt").write_text("changed again\n", encoding="utf-8")
    await workspaces.save(plan, "sony")
    await workspaces.save(plan, "sony")
    assert content(repository, "a.txt") == "changed again"
    assert content(repository, "a.txt", f"{SAVED}^2") == "staged"
    assert [name for name in branches(repository) if "saved" in name] == [SAVED]


async def test_commits_that_only_the_agents_branch_has_are_saved(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    git(plan.path, "commit", "--allow-empty", "--message=Work")
    saved = await workspaces.save(plan, "sony")
    assert saved == Saved(branch=SAVED, commit=git(plan.path, "rev-parse", "HEAD"))


async def test_commits_that_another_branch_or_a_remote_has_are_not_saved_again(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    git(plan.path, "commit", "--allow-empty", "--message=Work")
    git(repository, "update-ref", "refs/remotes/origin/work", "quarterdeck/sony")
    assert await workspaces.save(plan, "sony") is None


async def test_saving_needs_no_name_runs_no_hook_and_signs_nothing(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path, tmp_path: Path
) -> None:
    for hook in ("pre-commit", "commit-msg", "post-checkout", "reference-transaction"):
        path = repository / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n", encoding="utf-8")
        path.chmod(0o755)
    git(repository, "config", "commit.gpgsign", "true")
    git(repository, "config", "gpg.program", "false")
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    await workspaces.save(plan, "sony")
    assert git(repository, "log", "-1", "--format=%an <%ae>", SAVED) == (
        "Quarterdeck <quarterdeck@localhost>"
    )
    assert not (tmp_path / "ran").exists()


async def test_the_users_own_name_is_used_where_git_knows_it(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    git(repository, "config", "user.name", "Grace")
    git(repository, "config", "user.email", "grace@example.org")
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    await workspaces.save(plan, "sony")
    assert git(repository, "log", "-1", "--format=%an", SAVED) == "Grace"


async def test_work_in_the_middle_of_a_merge_is_saved(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    _make_conflict(plan, repository)
    git(plan.path, "merge", "main", check=False)
    assert "<<<<<<<" in (plan.path / "story.txt").read_text(encoding="utf-8")
    await workspaces.save(plan, "sony")
    assert "<<<<<<<" in content(repository, "story.txt")


async def test_work_in_the_middle_of_a_rebase_is_saved_and_the_branch_is_kept(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    _make_conflict(plan, repository)
    git(plan.path, "rebase", "main", check=False)
    tip = git(repository, "rev-parse", "quarterdeck/sony")
    await workspaces.remove(plan, name="sony")
    assert "<<<<<<<" in content(repository, "story.txt")
    assert git(repository, "rev-parse", "quarterdeck/sony") == tip


def _make_conflict(plan: WorkspacePlan, repository: Path) -> None:
    for place, text in ((plan.path, "ours\n"), (repository, "theirs\n")):
        (place / "story.txt").write_text(text, encoding="utf-8")
        git(place, "commit", "--all", "--message=Change")


async def test_commits_of_a_detached_head_and_of_a_deleted_branch_are_saved(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    git(plan.path, "checkout", "--detach")
    git(plan.path, "commit", "--allow-empty", "--message=Work")
    git(repository, "branch", "--delete", "--force", "quarterdeck/sony")
    head = git(plan.path, "rev-parse", "HEAD")
    saved = await workspaces.remove(plan, name="sony")
    assert saved == Saved(branch=SAVED, commit=head)


async def test_work_before_the_first_commit_of_a_new_branch_is_saved(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    git(plan.path, "checkout", "--orphan", "fresh")
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    await workspaces.remove(plan, name="sony")
    assert content(repository, "new.txt") == "new"


async def test_an_emptied_worktree_is_saved_as_what_it_is(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    for name in ("story.txt", ".gitignore"):
        (plan.path / name).unlink()
    await workspaces.remove(plan, name="sony")
    assert names(repository) == set()


async def test_work_is_saved_beside_a_corrupted_index(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    (repository / ".git" / "worktrees" / plan.path.name / "index").write_bytes(b"broken")
    await workspaces.remove(plan, name="sony")
    assert names(repository) == {".gitignore", "story.txt", "new.txt"}


@pytest.mark.parametrize("lost", [".git", "records"])
async def test_work_is_saved_when_the_worktrees_link_to_its_repository_is_lost(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path, lost: str
) -> None:
    (plan.path / "new.txt").write_text("new\n", encoding="utf-8")
    (plan.path / ".git").unlink()
    if lost == "records":
        git(repository, "worktree", "prune", "--expire=now")
    await workspaces.remove(plan, name="sony")
    assert names(repository) == {".gitignore", "story.txt", "new.txt"}
    assert not plan.path.exists()


async def test_odd_names_links_and_modes_are_saved(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    odd = ["-rf", "two\nlines", ":(top)x", "a'b\"c", "*"]
    for name in odd:
        (plan.path / name).write_text("odd\n", encoding="utf-8")
    (plan.path / "link").symlink_to("story.txt")
    (plan.path / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (plan.path / "run").chmod(0o755)
    os.mkfifo(plan.path / "pipe")
    await workspaces.remove(plan, name="sony")
    assert {*odd, "link", "run"} <= names(repository)
    modes = git(repository, "ls-tree", SAVED, "link", "run")
    assert modes.startswith("120000")
    assert "100755" in modes


@pytest.mark.skipif(sys.platform == "darwin", reason="only on systems whose names are bytes")
async def test_names_that_are_no_utf_8_are_saved(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    (plan.path / "caf\udce9").write_text("odd\n", encoding="utf-8")
    await workspaces.remove(plan, name="sony")
    assert "caf\udce9" in names(repository)


async def test_work_that_git_was_told_not_to_look_at_is_saved(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    git(plan.path, "update-index", "--assume-unchanged", "story.txt")
    git(plan.path, "update-index", "--skip-worktree", ".gitignore")
    (plan.path / "story.txt").write_text("hidden\n", encoding="utf-8")
    (plan.path / ".gitignore").write_text("hidden too\n", encoding="utf-8")
    await workspaces.save(plan, "sony")
    assert content(repository, "story.txt") == "hidden"
    assert content(repository, ".gitignore") == "hidden too"


@pytest.mark.parametrize("commits", [0, 1])
async def test_a_repository_inside_the_worktree_is_kept_as_a_folder(
    workspaces: Workspaces, plan: WorkspacePlan, home: Path, repository: Path, commits: int
) -> None:
    if commits:
        new_repository(plan.path / "inner" / "deep")
    else:
        (plan.path / "inner" / "deep").mkdir(parents=True)
        git(plan.path / "inner" / "deep", "init", "--quiet")
    (plan.path / "inner" / "deep" / "new.txt").write_text("new\n", encoding="utf-8")
    (plan.path / "inner" / "beside.txt").write_text("beside\n", encoding="utf-8")
    saved = await workspaces.remove(plan, name="sony")
    assert saved
    assert saved.nested == ("inner/deep",)
    assert saved.folder == home / "saved" / plan.path.name
    kept = home / "saved" / plan.path.name / "inner" / "deep"
    assert (kept / "new.txt").read_text(encoding="utf-8") == "new\n"
    assert git(kept, "status", "--porcelain", "new.txt") == "?? new.txt"
    assert "inner/beside.txt" in names(repository)


async def test_a_repository_begun_around_tracked_files_loses_neither_them_nor_its_commits(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    inner = plan.path / "src"
    inner.mkdir()
    (inner / "a.txt").write_text("a\n", encoding="utf-8")
    git(plan.path, "add", "src")
    git(inner, "init", "--quiet")
    git(inner, "add", ".")
    git(inner, "commit", "--message=Inner")
    (inner / "b.txt").write_text("b\n", encoding="utf-8")
    saved = await workspaces.remove(plan, name="sony")
    assert saved
    assert saved.folder
    assert git(saved.folder / "src", "log", "--format=%s") == "Inner"
    assert (saved.folder / "src" / "b.txt").exists()
    assert "src/a.txt" in names(repository)


async def test_a_submodule_is_kept_with_its_commits(
    workspaces: Workspaces, plan: WorkspacePlan, tmp_path: Path
) -> None:
    part = new_repository(tmp_path / "part")
    git(plan.path, "-c", "protocol.file.allow=always", "submodule", "add", str(part), "part")
    git(plan.path, "commit", "--message=Add a part")
    git(plan.path / "part", "commit", "--allow-empty", "--message=Only here")
    saved = await workspaces.remove(plan, name="sony")
    assert saved
    assert saved.folder
    assert git(saved.folder / "part", "log", "-1", "--format=%s") == "Only here"


async def test_a_repository_that_git_ignores_is_not_kept(
    workspaces: Workspaces, plan: WorkspacePlan, home: Path
) -> None:
    new_repository(plan.path / "ignored" / "dependency")
    assert await workspaces.remove(plan, name="sony") is None
    assert not (home / "saved").exists()


async def test_nothing_is_removed_when_saving_fails(
    workspaces: Workspaces, plan: WorkspacePlan, repository: Path
) -> None:
    git(repository, "config", "filter.broken.clean", "false")
    git(repository, "config", "filter.broken.required", "true")
    (plan.path / ".gitattributes").write_text("*.bin filter=broken\n", encoding="utf-8")
    (plan.path / "work.bin").write_text("work\n", encoding="utf-8")
    with pytest.raises(WorkNotSaved) as raised:
        await workspaces.remove(plan, name="sony")
    assert "nothing was removed" in (raised.value.hint or "")
    assert (plan.path / "work.bin").read_text(encoding="utf-8") == "work\n"
    assert worktrees(repository) == [plan.path.name]
    assert "quarterdeck/sony" in branches(repository)
