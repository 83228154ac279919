from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from quarterdeck.repositories.runtimes.metadata import MetadataCollector


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
