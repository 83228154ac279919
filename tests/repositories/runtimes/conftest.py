from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from quarterdeck.domain.projects import Project
from quarterdeck.repositories.runtimes.metadata import MetadataCollector
from quarterdeck.testing.runtime_contract import RuntimeHarness
from tests.support.runtimes import LocalSite


@pytest.fixture
def site(tmp_path: Path) -> LocalSite:
    """A home with a project whose agents share a folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return LocalSite(tmp_path / "home", Project(id="p1", name="Setup", folder=folder))


@pytest.fixture
async def local(site: LocalSite) -> AsyncGenerator[RuntimeHarness]:
    async with site.harness() as harness:
        yield harness


@pytest.fixture
async def collector(workspace: Path) -> AsyncIterator[MetadataCollector]:
    """A collector that waits for every field, and leaves no process behind."""
    collector = MetadataCollector(answer_seconds=40, kill_seconds=40)
    with nothing_left_in(workspace):
        yield collector
        await collector.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return workspace


@contextmanager
def nothing_left_in(workspace: Path) -> Generator[None]:
    yield
    here = str(workspace.resolve())
    left = [p for p in psutil.process_iter(["cwd"]) if p.info["cwd"] == here and p.is_running()]
    for process in left:
        process.kill()
    assert left == []
