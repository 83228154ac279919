"""A user's home for each test."""

from pathlib import Path

import pytest

from tests.support.ships import Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)
