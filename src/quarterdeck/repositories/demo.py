"""The project to try Quarterdeck with: a small git repository in the home, made at first use."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from quarterdeck.domain.projects import Project, built_in_project
from quarterdeck.errors import CannotWrite

GIT_SECONDS = 30
# No user has to be configured, and nothing of whoever is has a say.
IDENTITY = ("-c", "user.name=Quarterdeck", "-c", "user.email=quarterdeck@localhost")
NOBODY_ELSES = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")

FILES = {
    "README.md": """\
# Demo

A small project to try Quarterdeck with. Let an agent change it: each agent works in a worktree of
its own, on a branch of its own, and nothing happens here until you merge.

Run the test with `python3 -m unittest`.
""",
    "Taskfile.yml": """\
version: "3"

silent: true

tasks:
  branch:
    desc: Branch that is checked out
    meta:
      include_in_list: true
    cmds:
      - git branch --show-current

  last_commit:
    desc: Subject of the newest commit
    meta:
      include_in_list: false
    cmds:
      - git log -1 --format=%s

  changed_files:
    desc: Number of files that differ from the newest commit
    meta:
      include_in_list: true
    cmds:
      - git status --porcelain | grep -c . || true
""",
    "greeting.py": '''\
"""Greets people by name."""


def greet(name: str) -> str:
    return f"Hello, {name}!"
''',
    "test_greeting.py": """\
import unittest

from greeting import greet


class GreetingTest(unittest.TestCase):
    def test_people_are_greeted_by_name(self) -> None:
        self.assertEqual(greet("Ada"), "Hello, Ada!")


if __name__ == "__main__":
    unittest.main()
""",
    ".gitignore": "__pycache__/\n",
}


def demo_project(home: Path) -> Project:
    """Return the project; without git its place is a plain folder. Nothing is made yet."""
    place = home.absolute() / "projects" / "demo"
    is_repository = (place / ".git").exists() if place.exists() else shutil.which("git") is not None
    return built_in_project(place, is_repository=is_repository)


def ensure_demo(project: Project) -> None:
    """Make the place of the demo project, unless it is there.

    Raises:
        CannotWrite: It cannot be made; nothing is left behind.
    """
    place = project.place
    if place.exists():
        return
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".demo-", dir=place.parent) as draft:
            made = _made(Path(draft) / "demo", with_git=project.repository is not None)
            _move(made, place)
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotWrite(str(place), _reason(error)) from error


def _made(draft: Path, *, with_git: bool) -> Path:
    draft.mkdir()
    for name, text in FILES.items():
        (draft / name).write_text(text, encoding="utf-8")
    if with_git:
        _git(draft, "init", "--quiet", "--template=", "--initial-branch=main")
        _git(draft, "add", "--all")
        _git(draft, *IDENTITY, *NOBODY_ELSES, "commit", "--quiet", "-m", "Greet people by name")
    return draft


def _move(made: Path, place: Path) -> None:
    try:
        made.rename(place)
    except OSError:
        # Another process was faster, and its demo is as good as this one.
        if not place.exists():
            raise


def _git(folder: Path, *arguments: str) -> None:
    # GIT_DIR and the like would lead to another repository.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(  # noqa: S603 - the arguments are our own
        ["git", *arguments],  # noqa: S607 - the user's own git, wherever it is
        cwd=folder,
        env=environ,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=GIT_SECONDS,
    )


def _reason(error: OSError | subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said: bytes = error.stderr or b""
        return f"git says: {said.decode(errors='replace').strip()}"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
