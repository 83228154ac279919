import logging
from datetime import timedelta

import anyio
import pytest

from quarterdeck.testing import FixedClock
from quarterdeck.web.attempts import (
    FIRST_DELAY_SECONDS,
    LONGEST_DELAY_SECONDS,
    MOST_ADDRESSES,
    MOST_WAITING,
    Attempts,
)

HERE, THERE = "127.0.0.1", "192.0.2.7"


class Slowed:
    """Attempts whose waiting is written down and takes no time."""

    def __init__(self) -> None:
        self.clock = FixedClock(step=timedelta())
        self.delays: list[float] = []
        self.attempts = Attempts(self.clock, self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.delays.append(seconds)

    async def fail(self, address: str, *, times: int) -> list[float]:
        before = len(self.delays)
        for _ in range(times):
            await self.attempts.slow_down(address)
        return self.delays[before:]


async def test_each_failure_waits_longer_up_to_a_limit() -> None:
    delays = await Slowed().fail(HERE, times=20)
    assert delays[:3] == [FIRST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2, FIRST_DELAY_SECONDS * 4]
    assert delays == sorted(delays)
    assert delays[-1] == LONGEST_DELAY_SECONDS


async def test_one_address_does_not_slow_another() -> None:
    slowed = Slowed()
    await slowed.fail(HERE, times=5)
    assert await slowed.fail(THERE, times=1) == [FIRST_DELAY_SECONDS]


async def test_failures_are_forgotten_after_a_quiet_time() -> None:
    slowed = Slowed()
    await slowed.fail(HERE, times=5)
    slowed.clock.advance(timedelta(minutes=4))
    assert await slowed.fail(HERE, times=1) == [LONGEST_DELAY_SECONDS]
    slowed.clock.advance(timedelta(minutes=5))
    assert await slowed.fail(HERE, times=1) == [FIRST_DELAY_SECONDS]


async def test_only_so_many_addresses_are_remembered() -> None:
    slowed = Slowed()
    await slowed.fail(HERE, times=5)
    for number in range(MOST_ADDRESSES):
        await slowed.fail(f"address {number}", times=1)
    assert await slowed.fail(HERE, times=1) == [FIRST_DELAY_SECONDS]


async def test_only_so_many_wait_and_the_rest_are_answered_at_once() -> None:
    waiting, released = [0], anyio.Event()

    async def sleep(_seconds: float) -> None:
        waiting[0] += 1
        await released.wait()

    attempts = Attempts(FixedClock(), sleep)
    async with anyio.create_task_group() as tasks:
        for _ in range(MOST_WAITING):
            tasks.start_soon(attempts.slow_down, HERE)
        await anyio.wait_all_tasks_blocked()
        await attempts.slow_down(HERE)
        assert waiting == [MOST_WAITING]
        released.set()
    await attempts.slow_down(HERE)
    assert waiting == [MOST_WAITING + 1], "there is room again"


def test_every_refusal_is_counted_and_the_log_gets_one_line_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slowed = Slowed()
    with caplog.at_level(logging.WARNING):
        for _ in range(100):
            slowed.attempts.count(HERE, "missing")
        slowed.clock.advance(timedelta(minutes=1))
        slowed.attempts.count(THERE, "expired")

    assert slowed.attempts.refused == 101
    first, second = [record.getMessage() for record in caplog.records]
    assert first.startswith("Refused 1 requests")
    assert second.startswith("Refused 100 requests")
    assert f"{THERE} (expired)" in second
