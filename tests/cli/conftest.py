"""The command line in this process, with a home of the test's own."""

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from quarterdeck.__main__ import Installed
from quarterdeck.cli.main import run
from quarterdeck.cli.program import Program
from tests.support.fleets import CommandedFleet
from tests.support.servers import kill_daemon


class Finished(NamedTuple):
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


class CommandLine(Protocol):
    def __call__(self, *arguments: str, program: Program | None = None) -> Finished: ...


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("QUARTERDECK_", "OTEL_"))]:
        monkeypatch.delenv(name)
    # Help is wrapped at the width of the terminal.
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "home"
    monkeypatch.setenv("QUARTERDECK_HOME", str(path))
    return path


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Commands set up logging for their process, which here is the test's."""
    loggers: Sequence[logging.Logger] = [
        logging.getLogger(name) for name in (None, "alembic", "fastmcp", "mcp", "uvicorn")
    ]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers, logger.level, logger.propagate = handlers, level, propagate


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    def call(*arguments: str, program: Program | None = None) -> Finished:
        capsys.readouterr()
        code = run(program or Installed(), arguments)
        printed = capsys.readouterr()
        return Finished(code, printed.out, printed.err)

    return call


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandedFleet]:
    """One daemon for all tests that command agents; the first command starts it."""
    home = tmp_path_factory.mktemp("fleet")
    try:
        yield CommandedFleet(home)
    finally:
        kill_daemon(home)
