"""Two processes of one home: each runs its own agents, and both see and command all of them."""

import anyio.to_thread
import pytest

from tests.support.daemons import Bridge, bridge
from tests.support.runtimes import eventually
from tests.support.ships import Json, Yard, command, is_running

pytestmark = pytest.mark.timeout(180)  # real processes, on a busy machine


class Alone:
    """`quarterdeck mcp --standalone`, beside the daemon of the same home."""

    def __init__(self, client: Bridge) -> None:
        self._client = client

    async def answer(self, tool: str, /, **arguments: object) -> Json:
        return await anyio.to_thread.run_sync(lambda: self._client.call(tool, **arguments))

    def kill(self) -> None:
        self._client.process.kill()


async def test_a_second_process_leaves_the_agents_of_the_first_alone_and_can_command_them(
    yard: Yard,
) -> None:
    async with yard.sailing() as ship:
        await ship.create("deck", "/say at work", "/wait deck.go", "/say finished")
        await ship.is_at("deck", "at work")
        pids = yard.left()
        with bridge("--standalone", home=yard.home) as client:
            alone = Alone(client)
            assert all(map(is_running, pids)), "its start ended nobody"
            (yard.folder / "deck.go").touch()
            (agent,) = await ship.settled("deck")
            assert agent["last_report"] == "finished"
            await command(alone, "deck")
            await new_agent_of(alone, "shore")
            await ship.is_at("shore", "at work")
            listed = await ship.answer("list_agents", include_metadata=False)
            assert {row["name"] for row in listed["agents"]} == {"deck", "shore"}
            await command(ship, "shore")
            await alone.answer("delete_agent", agent_name="deck")
            await ship.answer("delete_agent", agent_name="shore")
            await eventually(lambda: not yard.left())


async def new_agent_of(alone: Alone, name: str) -> None:
    task = f"/say at work\n/wait {name}.go\n/say finished"
    await alone.answer("create_agent", name=name, project="yard", task=task)


async def test_what_a_process_that_died_had_at_work_is_seen_as_failed_and_can_be_restarted(
    yard: Yard,
) -> None:
    async with yard.sailing() as ship:
        with bridge("--standalone", home=yard.home) as client:
            alone = Alone(client)
            await new_agent_of(alone, "shore")
            await ship.is_at("shore", "at work")
            alone.kill()
            await eventually(lambda: not yard.left())
        shown = await ship.seen("shore", lambda agent: agent["status"] == "failed")
        assert "ended unexpectedly" in shown["reason"]
        refused = await ship.error("cancel_agent_task", agent_name="shore")
        assert refused["code"] == "INVALID_INPUT"
        refused = await ship.error(
            "start_agent_task", agent_name="shore", task_description="/say more", queue=True
        )
        assert refused["code"] == "INVALID_INPUT"
        (yard.folder / "shore.go").touch()
        restarted = await ship.answer("restart_agent", agent_name="shore")
        assert "it goes on with: /say at work" in restarted["message"]
        await ship.settled("shore")
        (task,) = await ship.tasks("shore")
        assert task["state"] == "done"
