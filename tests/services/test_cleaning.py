"""Retention of what is known of deleted agents, by the daemon itself."""

from datetime import timedelta
from pathlib import Path

import anyio

from quarterdeck.app import open_quarterdeck
from quarterdeck.settings import load_settings
from quarterdeck.testing import Deck, FixedClock, quarterdeck_for_tests


async def names(deck: Deck) -> list[str]:
    listed = await deck.call("list_agents", {"status_filter": "deleted"})
    return [agent["name"] for agent in listed.answer["agents"]]


async def test_a_deleted_agent_is_forgotten_after_the_time_of_the_settings(tmp_path: Path) -> None:
    clock = FixedClock()
    settings = {"fleet.retention_days": 2}
    async with quarterdeck_for_tests(tmp_path / "home", clock=clock, settings=settings) as deck:
        cleaning = deck.quarterdeck.fleet.cleaning
        arguments = {"name": "former", "project": "Demo", "task": "/say hello"}
        assert (await deck.call("create_agent", arguments)).answer
        await deck.call("wait_for_agent", {"agent_names": ["former"]})
        assert (await deck.call("delete_agent", {"agent_name": "former"})).answer

        clock.advance(timedelta(days=1))
        assert (await cleaning.run()).agents == []
        assert await names(deck) == ["former"]
        clock.advance(timedelta(days=1))
        assert (await cleaning.run()).agents == ["former"]
        assert await names(deck) == []


async def test_a_server_cleans_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "workspaces" / "nobody-1"
    folder.mkdir(parents=True)
    settings = load_settings(flags={"home": tmp_path / "home"}, environ={})
    async with open_quarterdeck(settings) as deck, deck.serving():
        with anyio.fail_after(30):
            while folder.exists():
                await anyio.sleep(0.01)
