"""Requests that were not let in: counted, slowed when they guess, logged at a limited rate."""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable

import anyio

from quarterdeck.ports.clock import Clock

logger = logging.getLogger(__name__)

FIRST_DELAY_SECONDS = 0.1
# Shorter than what a server that ends waits for its connections.
LONGEST_DELAY_SECONDS = 1.0
FORGOTTEN_AFTER_US = 300 * 1_000_000
LOGGED_EVERY_US = 60 * 1_000_000
MOST_ADDRESSES = 1000
MOST_WAITING = 50

Sleep = Callable[[float], Awaitable[None]]


class Attempts:
    """What is known of refused requests; small however many come.

    `refused` counts them since the start. Only who presents a wrong secret has to wait: a
    request without any guesses nothing, and a right secret never gets here.
    """

    def __init__(self, clock: Clock, sleep: Sleep = anyio.sleep) -> None:
        self._clock = clock
        self._sleep = sleep
        self._failures: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._waiting = 0
        self._logged_us: int | None = None
        self._unlogged = 0
        self.refused = 0

    def count(self, address: str, reason: str) -> None:
        """Note a refusal; what was presented must not be part of the `reason`."""
        self.refused += 1
        self._unlogged += 1
        now = self._clock.ticks_us()
        if self._logged_us is None or now - self._logged_us >= LOGGED_EVERY_US:
            logger.warning(
                "Refused %d requests without a valid token; the last came from %s (%s)",
                self._unlogged,
                address,
                reason,
            )
            self._logged_us, self._unlogged = now, 0

    async def slow_down(self, address: str) -> None:
        """Let a guess wait, longer each time; when too many wait, they are answered at once.

        Waiting holds a connection, which there must not be too many of; and no number of
        guesses that a server can answer gets anywhere near a secret of 256 bits.
        """
        delay = min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** self._failed(address))
        if self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        try:
            await self._sleep(delay)
        finally:
            self._waiting -= 1

    def _failed(self, address: str) -> int:
        """Return how often this address failed lately, before now."""
        now = self._clock.ticks_us()
        before, last = self._failures.pop(address, (0, now))
        if now - last >= FORGOTTEN_AFTER_US:
            before = 0
        self._failures[address] = (min(before + 1, 10), now)
        if len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)
        return before
