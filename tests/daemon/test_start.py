"""One daemon a home, however many ask for it, and it outlives whoever started it."""

import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psutil
import pytest

from quarterdeck import __version__
from tests.support.daemons import (
    ANSWER_SECONDS,
    address_of,
    bridge,
    deck_home,
    http,
    living_daemons,
    quarterdeck,
    running,
    start,
)
from tests.support.servers import END_SECONDS

pytestmark = [
    pytest.mark.timeout(120),  # a busy machine takes its time to start so many processes
    pytest.mark.xdist_group("daemon"),
]

STARTING = "Starting the Quarterdeck daemon"
RUNNING_ALREADY = f"It is running already, as version {__version__}\n"
DEFAULT_PORT = 7420


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def default_port_is_taken() -> Iterator[None]:
    try:
        listener = socket.create_server(("127.0.0.1", DEFAULT_PORT))
    except OSError:
        yield  # somebody else has it, which is as good
    else:
        with listener:
            yield


def answering_instances(home: Path) -> list[str]:
    """Return the ids of the processes that served the calls so far."""
    with closing(sqlite3.connect(deck_home(home) / "quarterdeck.db")) as connection:
        return [row[0] for row in connection.execute("SELECT DISTINCT daemon_id FROM traces")]


def test_ten_clients_at_once_start_one_daemon_and_see_each_others_memory(home: Path) -> None:
    keys = [f"client-{number}" for number in range(10)]
    with ExitStack() as stack:
        clients = [stack.enter_context(bridge(home=home, shaken=False)) for _ in keys]
        for client, key in zip(clients, keys, strict=True):
            client.shake_hands()
            client.call("memory_store", key=key, value={"from": key})
        listed = [client.call("memory_list", prefix="client-")["total"] for client in clients]
        instance = http(home, "GET", "/healthz").json()["instance"]
        remarks = [client.end()[1] for client in clients]
    assert listed == [10] * 10
    assert [process.pid for process in living_daemons(home)] == [address_of(home).pid]
    assert answering_instances(home) == [instance]
    assert sorted(remarks) == [""] * 9 + [f"{STARTING}\n"]


def test_ten_commands_at_once_start_one_daemon_and_a_later_one_finds_it(home: Path) -> None:
    with ExitStack() as stack:
        commands = [stack.enter_context(running("up", "--detach", home=home)) for _ in range(10)]
        printed = [command.communicate(timeout=ANSWER_SECONDS) for command in commands]
        assert [command.returncode for command in commands] == [0] * 10
    url = address_of(home).url
    assert all(f"MCP        {url}/mcp\n" in out for out, _ in printed)
    assert sum(STARTING in err for _, err in printed) == 1
    assert [process.pid for process in living_daemons(home)] == [address_of(home).pid]

    again = quarterdeck("up", "--detach", home=home)
    assert (again.returncode, again.stderr) == (0, RUNNING_ALREADY)
    assert f"MCP        {url}/mcp\n" in again.stdout

    in_front = quarterdeck("up", home=home)
    assert (in_front.returncode, in_front.stdout) == (4, "")
    assert in_front.stderr.startswith(f"error: A daemon is running already at {url}\n")


def test_killing_the_process_group_of_the_client_leaves_its_daemon_alive(home: Path) -> None:
    with bridge(home=home) as client:
        started = address_of(home)
        os.killpg(client.process.pid, signal.SIGKILL)
        assert client.process.wait(END_SECONDS) == -signal.SIGKILL
    assert http(home, "GET", "/healthz").json() == {"ok": True, "instance": started.instance}
    assert os.getsid(started.pid) == started.pid
    with bridge(home=home) as next_client:
        assert next_client.call("memory_list")["total"] == 0
        assert next_client.end() == (0, "")


def test_a_daemon_that_ends_before_the_client_that_started_it_leaves_no_zombie(
    home: Path,
) -> None:
    with bridge(home=home):
        daemon = psutil.Process(address_of(home).pid)
        daemon.kill()
        daemon.wait(END_SECONDS)  # until the process table has forgotten it
        assert not psutil.pid_exists(daemon.pid)


@pytest.mark.usefixtures("default_port_is_taken")
def test_when_the_default_port_is_taken_another_one_is_used_and_named(home: Path) -> None:
    done = quarterdeck("up", "--detach", home=home)
    url = address_of(home).url
    assert f"Dashboard  {url}/\n" in done.stdout
    assert url != f"http://127.0.0.1:{DEFAULT_PORT}"
    assert http(home, "GET", "/healthz").json()["instance"] == address_of(home).instance


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(home: Path, taken_port: int) -> None:
    by_flag = quarterdeck("up", "--detach", "--port", str(taken_port), home=home)
    assert (by_flag.returncode, by_flag.stdout) == (6, "")
    assert f"Cannot listen on 127.0.0.1 port {taken_port}" in by_flag.stderr
    assert "hint: stop what uses the port, or choose another with --port" in by_flag.stderr

    config = deck_home(home) / "config.toml"
    config.write_text(f"[server]\nport = {taken_port}\n", encoding="utf-8")
    by_client = quarterdeck("mcp", home=home)
    assert (by_client.returncode, by_client.stdout) == (6, "")
    assert f"Cannot listen on 127.0.0.1 port {taken_port}" in by_client.stderr


@pytest.mark.parametrize("command", [("up", "--detach"), ("mcp",)], ids=" ".join)
def test_a_broken_configuration_is_reported_by_whoever_wants_the_daemon(
    command: tuple[str, ...], home: Path
) -> None:
    deck_home(home).mkdir()
    (deck_home(home) / "config.toml").write_text("[server]\nprot = 1\n", encoding="utf-8")
    refused = quarterdeck(*command, home=home)
    assert refused.returncode != 0
    assert refused.stdout == ""
    assert "'server.prot'" in refused.stderr
    assert "did you mean 'server.port'?" in refused.stderr
    assert living_daemons(home) == []


def test_flags_are_kept_by_the_daemon_that_follows_a_crash(home: Path) -> None:
    before = start("--read-only", "--toolsets", "memory,trace", home=home)
    psutil.Process(before.pid).kill()
    with bridge(home=home) as client:
        after = address_of(home)
        assert after.instance != before.instance
        assert after.flags == before.flags
        assert after.flags == ["--port=0", "--read-only", "--toolsets=memory,trace"]
        assert client.tool_names() == {
            "memory_retrieve",
            "memory_search",
            "memory_list",
            "trace_list",
            "trace_get",
            "trace_analyze",
        }


def test_what_one_client_is_not_offered_others_are(home: Path) -> None:
    with (
        bridge("--read-only", "--toolsets", "memory", home=home) as narrow,
        bridge(home=home) as wide,
    ):
        assert narrow.tool_names() == {"memory_retrieve", "memory_search", "memory_list"}
        assert {"memory_store", "trace_list"} < wide.tool_names()
        refused = narrow.answer_to(narrow.ask("memory_store", key="k", value={}))
        assert refused["structuredContent"]["error"]["code"] == "NOT_FOUND"
