"""One change at a time in each repository, over all processes of a home."""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from weakref import WeakValueDictionary

from quarterdeck.repositories.workspaces.places import private

_RETRY_SECONDS = 0.02


class RepositoryLocks:
    """Locked files in a folder; the kernel lets go of a lock when all its holders are gone.

    Commands that are run under a lock inherit its file: a git that outlives a killed daemon
    keeps the next one waiting until it has ended.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is made when the first lock is."""
        self._folder = folder
        # Tasks of this process wait in a fair queue, so that only one of them asks the kernel.
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, repository: Path) -> AsyncGenerator[int]:
        """Hold the lock of the repository with this git folder; yield its open file."""
        key = hashlib.sha256(os.fsencode(repository)).hexdigest()[:24]
        queue = self._queues.setdefault(key, asyncio.Lock())
        async with queue:
            file = os.open(private(self._folder) / f"{key}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                await _locked(file)
                yield file
            finally:
                os.close(file)


async def _locked(file: int) -> None:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(_RETRY_SECONDS)
        else:
            return
