import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quarterdeck.errors import CannotWrite
from quarterdeck.repositories.demo import demo_project, ensure_demo


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be somebody whom git does not know."""
    empty = tmp_path / "nobody"
    empty.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(empty))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(empty))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.mark.usefixtures("stranger")
def test_the_demo_is_a_clean_repository_made_without_a_git_user(tmp_path: Path) -> None:
    project = demo_project(tmp_path)
    assert not project.place.exists()
    ensure_demo(project)
    assert project.repository == tmp_path / "projects" / "demo"
    assert git(project.place, "status", "--porcelain") == ""
    assert git(project.place, "branch", "--show-current") == "main"


def test_making_it_again_leaves_what_somebody_did_in_it(tmp_path: Path) -> None:
    project = demo_project(tmp_path)
    ensure_demo(project)
    (project.place / "notes.txt").write_text("mine", encoding="utf-8")
    ensure_demo(project)
    assert (project.place / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert [path.name for path in project.place.parent.iterdir()] == ["demo"]


def test_its_own_test_passes(tmp_path: Path) -> None:
    project = demo_project(tmp_path)
    ensure_demo(project)
    subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=project.place, check=True, capture_output=True
    )


def test_its_taskfile_has_three_fields_that_the_real_task_can_run(tmp_path: Path) -> None:
    project = demo_project(tmp_path)
    ensure_demo(project)
    (project.place / "new.txt").touch()
    task = shutil.which("task", path=Path(sys.executable).parent)
    assert task is not None

    def value(field: str) -> str:
        done = subprocess.run(
            [task, field], cwd=project.place, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    assert [value(field) for field in ("branch", "last_commit", "changed_files")] == [
        "main",
        "Greet people by name",
        "1",
    ]


def test_a_variable_that_leads_to_another_repository_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    project = demo_project(tmp_path)
    ensure_demo(project)
    assert (project.place / ".git").is_dir()
    assert not (tmp_path / "elsewhere").exists()


def test_without_git_the_demo_is_a_plain_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    project = demo_project(tmp_path)
    ensure_demo(project)
    assert project.folder == tmp_path / "projects" / "demo"
    assert (project.place / "README.md").exists()
    monkeypatch.undo()
    assert demo_project(tmp_path) == project


def test_a_demo_that_cannot_be_made_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "projects").write_text("in the way", encoding="utf-8")
    with pytest.raises(CannotWrite, match="demo"):
        ensure_demo(demo_project(tmp_path))
