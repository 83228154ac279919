"""Progress of a wait: always onward, in words, no more than a client can use."""

import re
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from quarterdeck.services.progress import report_progress
from quarterdeck.testing import Deck, quarterdeck_for_tests
from quarterdeck.tools.progress import ClientProgress
from tests.support.clients import Era
from tests.support.people import CLIENTS, Step, at_http
from tests.support.sites import site

ENOUGH_SECONDS = 50


class Listener:
    """Stands for a session of the SDK's; what it is told, it keeps, until it fails."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float, str]] = []
        self.failure: Exception | None = None

    async def report_progress(self, done: float, total: float, words: str) -> None:
        if self.failure is not None:
            raise self.failure
        self.told.append((done, total, words))


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def progress(listener: Listener) -> ClientProgress:
    return ClientProgress(cast("Any", listener))


@pytest.fixture
async def deck(tmp_path: Path) -> AsyncIterator[Deck]:
    async with quarterdeck_for_tests(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("kind", CLIENTS)
async def test_a_wait_tells_how_far_it_has_come(deck: Deck, kind: str, era: Era) -> None:
    task = {"name": "sony", "project": "demo", "task": "/slow 2\n/say done"}
    assert not (await deck.call("create_agent", task)).is_error
    with anyio.fail_after(ENOUGH_SECONDS):
        async with (
            site(deck) as here,
            at_http(kind, era, f"{here.url}/mcp", here.key, None) as caller,
        ):
            await caller.call("wait_for_agent", agent_names=["sony"], timeout_seconds=30)
            steps = list(caller.steps)
            await caller.call("memory_list")

    assert caller.steps == steps, "nothing comes after the answer, or of another call"
    assert_onward(steps)
    assert {step.total for step in steps} == {30.0}
    assert steps[0].done < 1, "it does not let wait for the first word"
    words = [step.words or "" for step in steps]
    assert all(re.fullmatch("sony is [a-z]+", text) for text in words), words
    assert "sony is busy" in words
    assert words[-1] == "sony is idle"


def assert_onward(steps: list[Step]) -> None:
    assert len(steps) > 1
    assert all(before.done < after.done for before, after in pairwise(steps)), steps


async def test_the_same_words_are_not_repeated_at_once(
    listener: Listener, progress: ClientProgress
) -> None:
    for done in range(100):
        await progress(done, 100, "sony is busy")
    await progress(100, 100, "sony is idle")
    assert listener.told == [(0, 100, "sony is busy"), (100, 100, "sony is idle")]


async def test_it_never_goes_back(listener: Listener, progress: ClientProgress) -> None:
    await progress(2, 9, "two")
    await progress(1, 9, "one")
    await progress(2, 9, "two again")
    assert [done for done, _, _ in listener.told] == [2]


async def test_a_client_that_cannot_be_told_does_not_fail_the_call(
    listener: Listener, progress: ClientProgress
) -> None:
    listener.failure = ConnectionError("gone")
    await progress(1, 9, "one")


async def test_nothing_is_told_once_the_call_is_over(
    listener: Listener, progress: ClientProgress
) -> None:
    progress.is_over = True
    await progress(1, 9, "one")
    assert listener.told == []


async def test_outside_of_a_call_nobody_is_told() -> None:
    await report_progress(1, 9, "one")
