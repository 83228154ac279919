"""A database for each test."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quarterdeck.repositories.sql.sqlite import SqliteStore


@pytest.fixture
async def store(migrated_sqlite: Path, tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(Path(shutil.copy(migrated_sqlite, tmp_path)), durability="normal")
    yield opened
    await opened.close()
