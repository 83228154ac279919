from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from quarterdeck.domain.projects import Project
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
