"""A home, a repository of nobody in particular, and the workspaces of both."""

from pathlib import Path

import pytest

from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces.models import WorkspacePlan
from tests.support.git import NOBODY, new_repository


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name, value in NOBODY.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "project").resolve()


@pytest.fixture
def workspaces(home: Path) -> Workspaces:
    return Workspaces(home)


@pytest.fixture
async def plan(workspaces: Workspaces, repository: Path) -> WorkspacePlan:
    """The finished worktree of an agent called sony."""
    plan = await workspaces.plan("sony", "0001-abcd1234", repository=repository, folder=None)
    await workspaces.prepare(plan, unheard)
    return plan


async def unheard(line: str) -> None:
    """Drop what is reported."""
