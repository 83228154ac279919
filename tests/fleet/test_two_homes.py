"""Two daemons on one PostgreSQL: one fleet for both, and what becomes of it when one is killed."""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.runtimes import eventually
from tests.support.ships import Json, Ship, Yard, command

pytestmark = [
    pytest.mark.timeout(240),  # real daemons and a database, on a busy machine
    pytest.mark.xdist_group("fleet-postgres"),
]

COMMANDS: tuple[tuple[str, Json], ...] = (
    ("start_agent_task", {"task_description": "/say more", "queue": True}),
    ("cancel_agent_task", {}),
    ("restart_agent", {}),
    ("show_agent_diff", {}),
    ("delete_agent", {}),
)


@dataclass(frozen=True)
class Pair:
    east: Ship
    west: Ship
    at_west: AsyncExitStack


def yard_on(url: str, home: Path, *, shared: str) -> Yard:
    home.mkdir()
    yard = Yard(home, shared=shared, versioned=f"{shared}-story")
    yard.settings |= {"database.url": url, "fleet.lost_seconds": 3.0}
    return yard


@pytest.fixture
async def pair(emptied_postgres: str, tmp_path: Path) -> AsyncIterator[Pair]:
    east = yard_on(emptied_postgres, tmp_path / "east", shared="quay")
    west = yard_on(emptied_postgres, tmp_path / "west", shared="pier")
    async with AsyncExitStack() as both, AsyncExitStack() as at_west:
        yield Pair(
            await both.enter_async_context(east.sailing()),
            await at_west.enter_async_context(west.sailing()),
            at_west,
        )


async def test_each_daemon_sees_and_commands_the_agents_of_the_other(pair: Pair) -> None:
    await pair.east.create("anna", "/say at work")
    await pair.west.create("will", "/say at work")
    for ship in (pair.east, pair.west):
        await ship.settled("anna", "will")
        listed = await ship.answer("list_agents", include_metadata=False)
        assert {row["name"] for row in listed["agents"]} == {"anna", "will"}
    await command(pair.west, "anna")
    await command(pair.east, "will")
    await pair.west.answer("delete_agent", agent_name="anna")
    await pair.east.answer("delete_agent", agent_name="will")
    assert (await pair.east.answer("list_agents"))["agents"] == []
    assert not pair.east.yard.left()
    assert not pair.west.yard.left()


async def test_nobody_takes_over_the_agents_of_a_daemon_that_was_killed_until_it_is_back(
    pair: Pair,
) -> None:
    east, west = pair.east, pair.west
    await west.create("will", "/say at work", "/wait will.go", "/say finished")
    await west.is_at("will", "at work")
    await west.create("ada", "/ask May I?")
    await west.seen("ada", lambda agent: agent.get("waiting_for"))
    (question,) = (await east.answer("question_list"))["questions"]
    west.kill()
    await pair.at_west.aclose()
    await assert_lost(east, question["question_id"])
    async with west.yard.sailing() as again:
        for ship in (again, east):
            agent, (task,) = await ship.show("will"), await ship.tasks("will")
            assert (agent["status"], task["state"]) == ("failed", "interrupted")
            assert "Quarterdeck ended unexpectedly" in agent["reason"]
        assert (await east.answer("question_list"))["questions"] == []
        (again.yard.folder / "will.go").touch()
        await east.answer("restart_agent", agent_name="will")
        (restarted,) = await east.settled("will")
        assert restarted["last_report"] == "finished"
        await eventually(lambda: not east.yard.left())


async def assert_lost(ship: Ship, question_id: str) -> None:
    """See that agents of a daemon that is gone have failed, and that nobody touches them."""
    for name in ("will", "ada"):
        agent = await ship.seen(name, lambda agent: agent["status"] == "failed")
        assert f"its daemon on {socket.gethostname()!r} was last seen at" in agent["reason"]
        assert agent["unavailable"] == agent["reason"]
    answer = ("question_answer", {"question_id": question_id, "kind": "allow_once"})
    named = [(tool, {"agent_name": "will", **more}) for tool, more in COMMANDS]
    for tool, arguments in (*named, answer):
        error = await ship.error(tool, **arguments)
        assert error["code"] == "SERVICE_UNAVAILABLE", tool
        assert error["details"]["host"] == socket.gethostname()
        assert error["details"]["last_seen"].startswith("20")
    assert (await ship.tasks("will"))[0]["state"] == "running", "nobody else may end it"
