"""The log: one stream, stderr, and no credential in it."""

import logging
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarterdeck.domain.redaction import Redactor
    from quarterdeck.settings import Settings

LIBRARIES = ("alembic", "fastmcp", "mcp", "uvicorn")
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class RedactingFormatter(logging.Formatter):
    """Redacts the finished text, so that arguments and tracebacks are covered too."""

    def __init__(self, redactor: "Redactor") -> None:
        super().__init__(FORMAT)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


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
