"""The words of a running server: read from the user's file, checked, and exchanged whole."""

import logging
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from fastmcp import FastMCP

from quarterdeck.overrides.checking import Finding, checked_text
from quarterdeck.overrides.model import Overrides
from quarterdeck.overrides.reading import read_text
from quarterdeck.tools.changes import Changes
from quarterdeck.tools.server import Services
from quarterdeck.tools.surface import everything
from quarterdeck.tools.wording import Wording

logger = logging.getLogger(__name__)


class Words:
    """Lays the words of a file over everything a server lists."""

    def __init__(self, services: Services, server: FastMCP[Any], path: Path) -> None:
        """Leave the package's words until `load`."""
        self._services = services
        self._server = server
        self._path = path
        self._wording = Wording()
        self.changes = Changes(server)
        self._one_at_a_time = anyio.Lock()
        server.add_transform(self._wording)

    async def load(self) -> list[Finding]:
        """Show everything in the words of the file; return what was skipped, which is logged too.

        Raises:
            InvalidMetadata: lists everything that is wrong; the words stay as they were.
        """
        # Of two that load at once, the one that read last must be the one that stays.
        async with self._one_at_a_time:
            text = await anyio.to_thread.run_sync(read_text, self._path)
            overrides, warnings = await self._checked(text)
            self._wording.use(overrides)
        for finding in warnings:
            logger.warning("%s: %s", self._path, finding)
        return warnings

    async def reload(self) -> list[Finding]:
        """Load the file again, and tell clients."""
        warnings = await self.load()
        await self.changes.announce()
        logger.info("Loaded %s again", self._path)
        return warnings

    async def _checked(self, text: str | None) -> tuple[Overrides, list[Finding]]:
        if not text:
            return Overrides(), []  # most have no file, and wait for the start
        components = await everything(self._services, self._server)
        parsed, warnings = checked_text(text, str(self._path), components.surface())
        return parsed.overrides, warnings
