"""The test kit, as those use it who test what they built on Quarterdeck."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mcp.types import CallToolResult, TextContent

import quarterdeck.testing
from quarterdeck.errors import InvalidSettings
from quarterdeck.testing import FixedClock, Reply, quarterdeck_for_tests
from quarterdeck.testing.reply import reply_from


def test_the_kit_offers_what_it_names() -> None:
    for name in quarterdeck.testing.__all__:
        assert getattr(quarterdeck.testing, name).__doc__


async def test_a_quarterdeck_lives_in_its_folder_and_is_there_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_HOME", "/nowhere")
    monkeypatch.setenv("QUARTERDECK_SERVER_READ_ONLY", "true")
    async with quarterdeck_for_tests(tmp_path / "home") as deck:
        await deck.call("memory_store", {"key": "k", "value": {"v": 1}})
    async with quarterdeck_for_tests(tmp_path / "home") as deck:
        reply = await deck.call("memory_retrieve", {"key": "k"})
        assert reply.answer["value"] == {"v": 1}
        assert (await deck.call("memory_list")).answer["total"] == 1


async def test_any_setting_can_be_set_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    async with quarterdeck_for_tests(tmp_path, settings={"trace.retention_days": 1}) as deck:
        assert deck.quarterdeck.settings.trace.retention_days == 1
    with pytest.raises(InvalidSettings):
        async with quarterdeck_for_tests(tmp_path, settings={"trace.retention": 1}):
            pass


async def test_what_a_test_raises_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        async with quarterdeck_for_tests(tmp_path):
            raise KeyError


async def test_times_are_those_of_the_clock_it_was_given(tmp_path: Path) -> None:
    clock = FixedClock(datetime(2030, 5, 6, tzinfo=UTC))
    async with quarterdeck_for_tests(tmp_path, clock=clock) as deck:
        await deck.call("memory_store", {"key": "k", "value": {}})
        reply = await deck.call("memory_retrieve", {"key": "k"})
    assert reply.answer["storedAt"].startswith("2030-05-06T00:00:00.")


def test_a_fixed_clock_moves_by_its_step_and_when_it_is_told() -> None:
    clock = FixedClock(step=timedelta(0))
    before, ticks = clock.now(), clock.ticks_us()
    assert clock.now() == before
    clock.advance(timedelta(seconds=1.5))
    assert clock.now() - before == timedelta(seconds=1.5)
    assert clock.ticks_us() - ticks == 1_500_000
    ticking = FixedClock()
    assert ticking.now() < ticking.now()


def test_a_reply_is_an_answer_or_an_error() -> None:
    good, bad = (
        Reply({"found": True}, is_error=False),
        Reply({"error": {"code": "X"}}, is_error=True),
    )
    assert (good.answer, bad.error) == ({"found": True}, {"code": "X"})
    with pytest.raises(AssertionError, match="the call succeeded"):
        _ = good.error
    with pytest.raises(AssertionError, match="the call failed"):
        _ = bad.answer


def test_a_reply_whose_text_and_structure_differ_is_none() -> None:
    text = TextContent(type="text", text='{"a": 1}')
    with pytest.raises(AssertionError, match="differ"):
        reply_from(CallToolResult(content=[text], structured_content={"a": 2}))
