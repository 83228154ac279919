"""`quarterdeck upgrade`: another daemon takes over, and clients go on."""

import socket
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from quarterdeck import __version__
from tests.support.daemons import (
    address_of,
    attached,
    bridge,
    deck_home,
    http,
    quarterdeck,
)
from tests.support.mcp_clients import ERAS

pytestmark = [
    pytest.mark.timeout(120),  # a busy machine takes its time to start so many processes
    pytest.mark.xdist_group("daemon"),
]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.parametrize("era", ERAS)
async def test_a_connected_client_goes_on_without_noticing(era: str, home: Path) -> None:
    entry = {"key": "greeting", "value": {"text": "ahoy"}}
    with anyio.fail_after(50):
        async with attached(era, home) as client:
            await client.call("memory_store", entry)
            before = address_of(home)
            done = await to_thread.run_sync(lambda: quarterdeck("upgrade", home=home))
            after = address_of(home)
            found = await client.call("memory_retrieve", {"key": "greeting"})
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"Version {__version__} is running at {after.url}\n")
    assert (before.instance == after.instance, before.pid == after.pid) == (False, False)
    assert found["value"] == entry["value"]


def test_flags_are_kept_and_so_is_what_the_environment_said_for_all_clients(home: Path) -> None:
    port = free_port()
    started = quarterdeck(
        *("up", "--detach", "--port", str(port), "--toolsets", "memory"),
        home=home,
        environ={"QUARTERDECK_SERVER_READ_ONLY": "true"},
    )
    assert started.returncode == 0, started.stderr
    before = address_of(home)
    assert quarterdeck("upgrade", home=home).returncode == 0
    after = address_of(home)
    assert after.instance != before.instance
    assert after.url == before.url == f"http://127.0.0.1:{port}"
    assert after.flags == [f"--port={port}", "--read-only", "--toolsets=memory"]
    with bridge(home=home) as client:
        assert client.tool_names() == {"memory_retrieve", "memory_search", "memory_list"}


def test_a_configuration_that_cannot_be_used_stops_the_upgrade_and_not_the_daemon(
    home: Path,
) -> None:
    assert quarterdeck("upgrade", home=home).returncode == 0, "it starts one that is not there"
    before = address_of(home)
    (deck_home(home) / "config.toml").write_text("[server]\nport = -1\n", encoding="utf-8")
    refused = quarterdeck("upgrade", home=home)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "'server.port'" in refused.stderr
    assert http(home, "GET", "/healthz").json()["instance"] == before.instance
