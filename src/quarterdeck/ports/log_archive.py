"""Where the oldest entries of a long log go."""

from collections.abc import Sequence
from typing import Protocol

from quarterdeck.domain.agent_log import LogEntry


class LogArchive(Protocol):
    """Files of old entries; they are durable before the entries leave the database."""

    def put(self, agent_id: str, entries: Sequence[LogEntry]) -> None:
        """Keep entries, oldest first; keeping the same ones again changes nothing."""
        ...

    def remove(self, agent_id: str) -> None:
        """Forget all that is kept of an agent; safe to repeat."""
        ...
