"""Writing what must not be lost, also while the database is away."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

from quarterdeck.errors import Unavailable
from quarterdeck.ports.store import Store, Transaction

logger = logging.getLogger(__name__)

T = TypeVar("T")

RETRY_SECONDS = 1.0


async def write_for_sure(store: Store, decide: Callable[[Transaction], T]) -> T:
    """Write a decision; as long as the disk is full, or the database away, try again."""
    while True:
        try:
            return await store.write(decide)
        except Unavailable as error:
            logger.error("Cannot write what became of an agent, trying again: %s", error.details)  # noqa: TRY400 - the reason is known
            await asyncio.sleep(RETRY_SECONDS)
