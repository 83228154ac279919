"""Throw-away repositories for tests, made by the real git without anybody's configuration."""

import os
import subprocess
from pathlib import Path

NOBODY = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
SOMEBODY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def git(place: Path, *arguments: str | bytes, check: bool = True) -> str:
    """Run git as a user with a name would, and return what it prints."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=place,
        env={**os.environ, **NOBODY, **SOMEBODY},
        capture_output=True,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def new_repository(path: Path) -> Path:
    """Make a repository with one commit on `main`."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    (path / ".gitignore").write_text("ignored/\n*.log\n.env\n", encoding="utf-8")
    (path / "story.txt").write_text("once\nupon\na time\n", encoding="utf-8")
    git(path, "add", ".")
    git(path, "commit", "--quiet", "--message=Begin")
    return path


def branches(repository: Path) -> list[str]:
    return git(repository, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split()


def worktrees(repository: Path) -> list[str]:
    """Return git's own records of linked worktrees, also those it would not list."""
    folder = repository / ".git" / "worktrees"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
