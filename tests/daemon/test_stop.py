"""Stopping: what is running is finished, within limits, and nothing else holds it up."""

import signal
from pathlib import Path

import psutil
import pytest

from quarterdeck.daemon.address import find, is_alive
from tests.support.daemons import (
    await_end_of_offer,
    bridge,
    deck_home,
    living_daemons,
    quarterdeck,
    running,
    start,
)
from tests.support.servers import END_SECONDS, stream
from tests.support.slow_calls import slow_call, slow_daemon

pytestmark = [
    pytest.mark.timeout(120),  # a busy machine takes its time to start so many processes
    pytest.mark.xdist_group("daemon"),
]

WAITING = "Waiting for the daemon to finish the calls that are running\n"
UNKNOWN = {"code": "SERVICE_UNAVAILABLE", "outcome": "unknown"}


def test_a_daemon_that_is_asked_to_stop_finishes_the_call_and_is_found_by_no_new_client(
    home: Path,
) -> None:
    with slow_daemon(home=home) as daemon, bridge(home=home) as client, slow_call() as call:
        number = client.ask("wait", port=call.port)
        call.await_start()
        with running("down", home=home) as down:
            await_end_of_offer(home)
            assert down.poll() is None, "it waits until the daemon is gone"
            assert quarterdeck("status", home=home).stdout == "ending\n"
            with running("down", home=home) as down_again:
                # It says so after its look at the daemon.
                assert stream(down_again.stderr).readline() == WAITING
                assert is_alive(deck_home(home)), "it waits like the first"
                call.let_go("finished")
                answer = client.answer_to(number)
                assert (down.wait(END_SECONDS), down_again.wait(END_SECONDS)) == (0, 0)
            assert not is_alive(deck_home(home))
        assert answer["structuredContent"] == {"result": "finished"}
        assert daemon.wait(END_SECONDS) == 0
        assert daemon.communicate() == ("", "")


def test_asked_a_second_time_it_quits_at_once(home: Path) -> None:
    with slow_daemon(home=home) as daemon, bridge(home=home) as client, slow_call() as call:
        number = client.ask("wait", port=call.port)
        call.await_start()
        stopped = quarterdeck("down", "--now", home=home)
        assert (stopped.returncode, stopped.stdout, stopped.stderr) == (0, "", "Stopped\n")
        call.await_end()
        assert daemon.wait(END_SECONDS) in {0, -signal.SIGTERM}
        error = client.answer_to(number)["structuredContent"]["error"]
        assert {"code": error["code"], "outcome": error["details"]["outcome"]} == UNKNOWN


def test_the_time_to_finish_is_limited(home: Path) -> None:
    limit = {"QUARTERDECK_SERVER_DRAIN_SECONDS": "0"}
    with (
        slow_daemon(home=home, environ=limit) as daemon,
        bridge(home=home) as client,
        slow_call() as call,
    ):
        number = client.ask("wait", port=call.port)
        call.await_start()
        assert quarterdeck("down", home=home).stderr == "Stopped\n"
        call.await_end()
        assert daemon.wait(END_SECONDS) == 0
        assert client.answer_to(number)["isError"] is True


def test_clients_that_only_listen_do_not_hold_up_the_end(home: Path) -> None:
    with bridge(home=home) as client:
        client.call("memory_list")
        # It would wait for calls for longer than the tests wait for a command.
        assert quarterdeck("down", home=home).stderr == "Stopped\n"
        assert not is_alive(deck_home(home))


def test_a_daemon_that_was_stopped_left_nothing_but_its_locks(home: Path) -> None:
    daemon = psutil.Process(start(home=home).pid)
    stopped = quarterdeck("down", home=home)
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (0, "", "Stopped\n")
    assert find(deck_home(home)) is None
    daemon.wait(END_SECONDS)
    assert {path.name for path in (deck_home(home) / "run").iterdir()} == {
        "daemon.lock",
        "start.lock",
    }
    again = quarterdeck("down", home=home)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "It was not running\n")
    assert living_daemons(home) == []


def test_where_nothing_ever_ran_there_is_nothing_to_stop(home: Path) -> None:
    assert quarterdeck("down", home=home).stderr == "It was not running\n"
    assert not deck_home(home).exists()
