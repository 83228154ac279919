"""A daemon that is asked to stop finishes what it has begun, and nobody has to notice."""

import signal
from pathlib import Path

import pytest

from tests.bridge.conftest import Join
from tests.bridge.test_passing_on import CHANGED, LISTENING, hear_a_change
from tests.bridge.test_sessions import ACKNOWLEDGED, give
from tests.support.bridges import ERAS, error_of
from tests.support.servers import END_SECONDS
from tests.support.workshop_daemons import Succession, workshop

pytestmark = pytest.mark.xdist_group("bridge-2")


def test_a_call_that_is_running_gets_what_it_waits_for_before_the_daemon_ends(
    daemons: Succession, attach: Join
) -> None:
    client = attach("legacy")
    asking = client.start_tool("ask", question="Who?")
    question = client.asked("elicitation/create")
    cancelled = client.start_tool("slow_write", label="cancelled-late")
    daemons.current.await_event("entered", "cancelled-late")
    daemon = daemons.current
    daemon.begin_to_end(daemons.home)
    give(client, question["id"], "Ada")
    assert client.result(asking)["structuredContent"] == {"result": "Ada"}
    client.notify("notifications/cancelled", requestId=cancelled)
    daemon.await_event("cancelled", "cancelled-late")
    assert daemon.process.wait(END_SECONDS) == 0


def test_calls_that_are_running_finish_before_the_daemon_ends(
    daemons: Succession, attach: Join
) -> None:
    clients = [attach(era) for era in ERAS]
    calls = [client.start_tool("slow_write", label=f"drained-{client.era}") for client in clients]
    for client in clients:
        daemons.current.await_event("entered", f"drained-{client.era}")
    daemon = daemons.current
    daemon.begin_to_end(daemons.home)
    later = [client.start_tool("memory_list", namespace="later") for client in clients]
    for client, number in zip(clients, calls, strict=True):
        daemon.release(f"drained-{client.era}")
        assert client.result(number)["structuredContent"] == {"result": f"drained-{client.era}"}
    assert daemon.process.wait(END_SECONDS) == 0
    for client, number in zip(clients, later, strict=True):
        assert client.result(number)["isError"] is False, "the next daemon answers"


def test_calls_that_do_not_finish_in_time_are_answered_as_unknown(home: Path, join: Join) -> None:
    with workshop(home, {"QUARTERDECK_SERVER_DRAIN_SECONDS": "0"}) as daemon:
        clients = [join(era) for era in ERAS]
        calls = [client.start_tool("slow_write", label=client.era) for client in clients]
        for client in clients:
            daemon.await_event("entered", client.era)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(END_SECONDS) == 0
        for client, number in zip(clients, calls, strict=True):
            assert error_of(client.result(number))["details"]["outcome"] == "unknown"
            assert client.tool("memory_list")["total"] == 0


def test_streams_are_opened_again_after_an_end_in_good_order(
    daemons: Succession, attach: Join
) -> None:
    modern, legacy = attach("modern"), attach("legacy")
    number = modern.start("subscriptions/listen", **LISTENING)
    modern.told(ACKNOWLEDGED)
    hear_a_change(legacy, daemons.current)
    modern.told(CHANGED)

    daemons.replace(signal.SIGTERM)

    for client in (modern, legacy):
        client.told(CHANGED)
    daemons.current.change("after-the-end")
    for client in (modern, legacy):
        client.told(CHANGED)
    assert modern.kept_answers() == [], f"request {number} goes on"
