"""Who waits for a change of an agent is woken by it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Changes:
    """Wakes those who watch; what changed, they look up themselves."""

    def __init__(self) -> None:
        """Nobody watches at first."""
        self._watchers: set[asyncio.Event] = set()

    def tell(self) -> None:
        """Wake everybody who watches."""
        for watcher in self._watchers:
            watcher.set()

    @asynccontextmanager
    async def watched(self, watcher: asyncio.Event | None = None) -> AsyncGenerator[asyncio.Event]:
        """Give an event that is set by each change, or use `watcher`; clear it before you look."""
        watcher = watcher or asyncio.Event()
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)
