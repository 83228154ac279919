"""Progress of a call, told to a client that asked for it."""

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import anyio
from fastmcp.server.middleware import MiddlewareContext
from mcp.server.session import ServerSession

from quarterdeck.services.progress import shown_by

logger = logging.getLogger(__name__)

# Other words are told at once.
TELL_EVERY_SECONDS = 0.9
# A client that does not read must not hold up its own call for long.
TOLD_WITHIN_SECONDS = 2


class ClientProgress:
    """Tells one client of one call: always onward, and nothing once the call is over."""

    def __init__(self, session: ServerSession) -> None:
        """`session` says nothing to a client that sent no progress token."""
        self._session = session
        self._done = -1.0
        self._words = ""
        self._told_at = 0.0
        self.is_over = False

    async def __call__(self, done: float, total: float, words: str) -> None:
        """Tell of it, if it is worth telling."""
        now = time.monotonic()
        is_news = words != self._words or now >= self._told_at + TELL_EVERY_SECONDS
        if self.is_over or done <= self._done or not is_news:
            return
        self._done, self._words, self._told_at = done, words, now
        try:
            with anyio.move_on_after(TOLD_WITHIN_SECONDS):
                await self._session.report_progress(done, total, words)
        except Exception:
            # Whatever it is: a call does not fail because nobody could be told of it.
            logger.debug("Could not tell of progress", exc_info=True)


@contextmanager
def progress_to(context: MiddlewareContext[Any]) -> Generator[None]:
    """Have what runs inside tell the caller how far it has come."""
    request = context.fastmcp_context and context.fastmcp_context.request_context
    if not request:
        yield
        return
    progress = ClientProgress(request.session)
    try:
        with shown_by(progress):
            yield
    finally:
        progress.is_over = True  # for whoever took a copy of the call's context along
