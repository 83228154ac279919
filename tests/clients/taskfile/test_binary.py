import subprocess
import sysconfig
from pathlib import Path

import pytest

from quarterdeck.clients.taskfile import binary
from quarterdeck.clients.taskfile.binary import find_task


def test_the_command_that_was_installed_with_us_is_found() -> None:
    task = find_task()
    assert task is not None
    assert task == Path(sysconfig.get_path("scripts")) / "task"
    subprocess.run([task, "--version"], check=True, capture_output=True)


def test_the_package_knows_its_command_wherever_it_was_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = Path(sysconfig.get_path("scripts"), "task").resolve()
    monkeypatch.setattr(binary, "_scripts", lambda: tmp_path)
    assert find_task() == expected


def test_without_the_package_the_path_is_searched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(binary, "_scripts", lambda: tmp_path / "none")
    monkeypatch.setattr(binary, "PACKAGE", "a-package-that-is-not-there")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_task() is None
    (tmp_path / "task").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "task").chmod(0o755)
    assert find_task() == tmp_path / "task"
