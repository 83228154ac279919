"""The log: on stderr, the daemon's in a file too, and no credential in it."""

import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, cast

from quarterdeck.daemon.log import log_path, open_log

if TYPE_CHECKING:
    from quarterdeck.domain.redaction import Redactor
    from quarterdeck.settings import Settings

LIBRARIES = ("alembic", "fastmcp", "mcp", "uvicorn")
MOST_BYTES = 5 * 1024 * 1024
KEPT_FILES = 3
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class RedactingFormatter(logging.Formatter):
    """Redacts the finished text, so that arguments and tracebacks are covered too."""

    def __init__(self, redactor: "Redactor") -> None:
        super().__init__(FORMAT)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


class DaemonLog(RotatingFileHandler):
    """Writes the daemon's log, which `quarterdeck logs` shows, and starts it anew when it is long.

    With `takes_output`, what the process prints goes there as well, so that nothing a library
    or a child says is lost.
    """

    def __init__(self, home: Path, *, takes_output: bool) -> None:
        self._home = home
        self._takes_output = takes_output
        super().__init__(
            log_path(home), maxBytes=MOST_BYTES, backupCount=KEPT_FILES, encoding="utf-8"
        )

    def _open(self) -> TextIOWrapper:
        opened = cast("TextIOWrapper", open_log(self._home))
        if self._takes_output:
            for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
                os.dup2(opened.fileno(), descriptor)
        return opened


@contextmanager
def logging_to_file(home: Path, *, in_background: bool) -> Generator[None]:
    """Write the log to the home too; in the background, there alone."""
    root = logging.getLogger()
    file = DaemonLog(home, takes_output=in_background)
    (on_stderr,) = root.handlers
    file.setFormatter(on_stderr.formatter)
    root.handlers = [file] if in_background else [on_stderr, file]
    try:
        yield
    finally:
        root.handlers = [on_stderr]
        file.close()


def log_to_stderr(settings: "Settings", *, serves: bool) -> None:
    """Send everything logged to stderr; stdout belongs to data and to the protocol.

    A command that only answers and ends says nothing below a warning, unless asked to.
    """
    from quarterdeck.domain.redaction import Redactor

    is_asked = serves or settings.origin_of("log.level") != "default"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(Redactor(settings.secrets())))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log.level.upper() if is_asked else logging.WARNING)
    for library in LIBRARIES:
        take_over(library)


def take_over(library: str) -> None:
    """Let a library's messages pass through our handler instead of its own.

    Below a warning, they are of interest to those who look for a bug.
    """
    logger = logging.getLogger(library)
    logger.handlers = []
    logger.propagate = True
    is_debugging = logging.getLogger().isEnabledFor(logging.DEBUG)
    logger.setLevel(logging.NOTSET if is_debugging else logging.WARNING)
