from pathlib import Path

import pytest

from tests.conformance.npm import Program


def test_without_a_registry_a_test_is_skipped_and_nothing_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9/")  # where nobody listens
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "npm"))
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRIES", "0")

    with pytest.raises(pytest.skip.Exception, match="no npm registry"):
        Program("a-package", "1.0.0", "a-command").installed()

    assert list((tmp_path / "quarterdeck-tests").iterdir()) == []
