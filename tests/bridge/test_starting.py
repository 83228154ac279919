"""A daemon that cannot start, at first or later."""

from pathlib import Path

import pytest

from tests.bridge.conftest import Join
from tests.support.bridges import ERAS, bare_bridge, error_of
from tests.support.servers import END_SECONDS
from tests.support.workshop_daemons import kill_daemon_of, state_of

pytestmark = pytest.mark.xdist_group("bridge-2")

BROKEN = '[server]\nport = "a harbour"\n'


def test_a_daemon_that_cannot_start_is_an_error_of_the_command(home: Path) -> None:
    configure(home, BROKEN)
    with bare_bridge(home, "modern") as client:
        out, log = client.process.communicate(timeout=END_SECONDS)
        assert (client.process.returncode, out) == (6, b"")
    assert "error: The daemon did not start: " in log.decode()
    assert "server.port" in log.decode()
    assert "hint: " in log.decode()


def test_while_the_daemon_cannot_start_calls_are_refused_until_that_is_mended(
    home: Path, join: Join
) -> None:
    clients = [join(era) for era in ERAS]
    for client in clients:
        client.tool("memory_list")
    configure(home, BROKEN)
    kill_daemon_of(home)
    for client in clients:
        error = error_of(client.result(client.start_tool("memory_store", key="k", value={})))
        assert error["code"] == "SERVICE_UNAVAILABLE"
        assert "server.port" in error["message"]
        assert "outcome" not in error["details"], "it is known: nothing was done"
        listing = client.ask("tools/list")["error"]
        assert listing["data"]["code"] == "SERVICE_UNAVAILABLE"
    listening = clients[1].ask("subscriptions/listen", notifications={"toolsListChanged": True})
    assert listening["error"]["data"]["code"] == "SERVICE_UNAVAILABLE"

    configure(home, "")

    for client in clients:
        client.tool("memory_store", key="k", value={})
        assert client.tool("memory_list")["total"] == 1


def configure(home: Path, text: str) -> None:
    state_of(home).mkdir(exist_ok=True)
    (state_of(home) / "config.toml").write_text(text, encoding="utf-8")
