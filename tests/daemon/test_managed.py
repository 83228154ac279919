"""A daemon that a service manager keeps: whoever wants the next one waits for the manager."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.support.daemons import address_of, bridge, quarterdeck
from tests.support.servers import QUARTERDECK, environment, stream

pytestmark = [pytest.mark.timeout(120), pytest.mark.xdist_group("daemon")]

MANAGER = Path(__file__).parents[1] / "support" / "service_manager.py"
READY = "Stop with Ctrl-C"


@contextmanager
def managed(home: Path) -> Generator["subprocess.Popen[str]"]:
    """Run the daemon as a service does."""
    with subprocess.Popen(
        [sys.executable, MANAGER, QUARTERDECK, "up", "--port", "0"],
        env=environment(home) | {"QUARTERDECK_SERVER_MANAGED": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as manager:
        try:
            said_until(manager, READY)
            yield manager
        finally:
            with suppress(psutil.NoSuchProcess):
                for process in (psutil.Process(manager.pid), *started_by(manager)):
                    process.kill()


def said_until(manager: "subprocess.Popen[str]", last: str) -> list[str]:
    """Return what the service printed, and the codes it failed with, up to the line `last`."""
    lines: list[str] = []
    while not lines or lines[-1] != last:
        lines.append(stream(manager.stdout).readline().strip())
        assert lines[-1], f"it ended: {lines}"
    return lines


def started_by(manager: "subprocess.Popen[str]") -> list[psutil.Process]:
    return psutil.Process(manager.pid).children(recursive=True)


def test_an_upgrade_leaves_the_start_to_the_manager(home: Path) -> None:
    with managed(home) as manager, bridge(home=home) as client:
        client.call("memory_store", key="k", value={"a": 1})
        before = address_of(home)
        done = quarterdeck("upgrade", home=home)
        assert done.returncode == 0, done.stderr
        assert "75" in said_until(manager, READY)
        after = address_of(home)
        assert after.instance != before.instance
        assert after.pid in {process.pid for process in started_by(manager)}
        assert client.call("memory_retrieve", key="k")["value"] == {"a": 1}


def test_in_place_of_one_that_crashed_clients_take_the_manager_s(home: Path) -> None:
    with managed(home) as manager, bridge(home=home) as client:
        os.kill(address_of(home).pid, signal.SIGKILL)
        assert client.call("memory_list")["total"] == 0
        assert f"{-signal.SIGKILL}" in said_until(manager, READY)
        assert address_of(home).pid in {process.pid for process in started_by(manager)}


def test_whoever_stops_it_stops_it(home: Path) -> None:
    with managed(home) as manager:
        assert quarterdeck("down", home=home).returncode == 0
        assert manager.wait() == 0
        assert quarterdeck("status", home=home).returncode == 3
