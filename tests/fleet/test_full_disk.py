"""A disk that is full for a while: agents wait, calls are refused, and nothing is lost."""

import json
import resource
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

import anyio
import pytest

from tests.support.daemons import quarterdeck
from tests.support.ships import Ship, Yard

if sys.platform != "linux":
    pytest.skip("only on Linux can a process be given another limit", allow_module_level=True)

pytestmark = pytest.mark.timeout(120)  # a real daemon, on a busy machine

SAID = 300_000


@contextmanager
def full_disk(ship: Ship) -> Generator[None]:
    """Let every write of the daemon to a file fail, as on a full disk."""
    pid = ship.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # it may have been stopped meanwhile
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


async def test_what_an_agent_says_while_the_disk_is_full_is_there_once_there_is_room(
    yard: Yard,
) -> None:
    async with yard.sailing() as ship:
        lines = ("/say before", "/wait go", f"/flood {SAID}", "/write said yes", "/say after")
        await ship.create("sony", *lines)
        await ship.is_at("sony", "before")
        with full_disk(ship):
            (yard.folder / "go").touch()
            with anyio.fail_after(60):
                while not (yard.folder / "said").exists():  # noqa: ASYNC110 - another process makes it
                    await anyio.sleep(0.05)
            refused = await ship.error("memory_store", key="k", value={})
            assert refused["code"] == "SERVICE_UNAVAILABLE"
            assert "database could not be used" in refused["message"]
            # Reading, too: no call goes without its trace. Commands leave none, and look.
            for tool in ("show_agent", "restart_agent", "cancel_agent_task", "delete_agent"):
                refused = await ship.error(tool, agent_name="sony")
                assert refused["code"] == "SERVICE_UNAVAILABLE"
            shown = quarterdeck("agents", "show", "sony", "--json", home=yard.home)
            assert json.loads(shown.stdout)["agent"]["status"] == "busy"
        (agent,) = await ship.settled("sony")
        assert (agent["task_state"], agent["last_report"]) == ("done", "after")
        messages = [entry["message"] for entry in await ship.log("sony")]
        (start,) = [index for index, text in enumerate(messages) if text.startswith("before")]
        assert sum(len(text) for text in messages[start:]) >= SAID
        assert "after" in messages[-1]


async def test_a_daemon_can_be_stopped_although_the_disk_is_full(yard: Yard) -> None:
    async with yard.sailing() as ship:
        await ship.create("sony", "/say before", "/wait go")
        await ship.is_at("sony", "before")
        with full_disk(ship):
            assert ship.stop() is not None
        assert not yard.left()
    async with yard.sailing() as ship:
        (task,) = await ship.tasks("sony")
        assert task["state"] == "interrupted"
