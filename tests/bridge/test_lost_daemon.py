"""`kill -9` of the daemon in the middle of a call: reads are repeated once, writes never."""

import pytest

from tests.bridge.conftest import Join
from tests.support.bridges import ERAS, Bridge, error_of
from tests.support.workshop_daemons import Succession

pytestmark = pytest.mark.xdist_group("bridge-1")


def entered(
    tool: str, daemons: Succession, attach: Join
) -> tuple[dict[str, Bridge], dict[str, int]]:
    """Return a client of each era, and the call of it that the daemon is busy with."""
    clients = {era: attach(era) for era in ERAS}
    calls = {era: client.start_tool(tool, label=era) for era, client in clients.items()}
    for era in ERAS:
        daemons.current.await_event("entered", era)
    return clients, calls


def test_a_write_is_answered_as_unknown_and_never_sent_again(
    daemons: Succession, attach: Join
) -> None:
    clients, calls = entered("slow_write", daemons, attach)
    second = daemons.replace()
    for era, client in clients.items():
        error = error_of(client.result(calls[era]))
        assert error["code"] == "SERVICE_UNAVAILABLE"
        assert error["details"]["outcome"] == "unknown"
        assert "before you ask for it again" in error["details"]["hint"]
        assert client.tool("count_to", number=1) == {"result": 1}
        assert not second.has_said("entered", era)


def test_a_read_is_repeated_and_answered(daemons: Succession, attach: Join) -> None:
    clients, calls = entered("slow_read", daemons, attach)
    second = daemons.replace()
    for era, client in clients.items():
        second.await_event("entered", era)
        second.release(era)
        result = client.result(calls[era])
        assert result["isError"] is False
        assert result["structuredContent"] == {"result": era}


def test_a_read_whose_second_daemon_dies_too_is_answered_as_unknown(
    daemons: Succession, attach: Join
) -> None:
    clients, calls = entered("slow_read", daemons, attach)
    second = daemons.replace()
    for era in ERAS:
        second.await_event("entered", era)
    third = daemons.replace()
    for era, client in clients.items():
        assert error_of(client.result(calls[era]))["details"]["outcome"] == "unknown"
        assert client.tool("count_to", number=1) == {"result": 1}
        assert not third.has_said("entered", era)


def test_a_resource_is_read_again(daemons: Succession, attach: Join) -> None:
    clients = [attach(era) for era in ERAS]
    calls = [client.start("resources/read", uri="workshop://bench") for client in clients]
    for _ in clients:
        daemons.current.await_event("entered", "bench")
    second = daemons.replace()
    for _ in clients:
        second.await_event("entered", "bench")
    second.release("bench")
    for client, number in zip(clients, calls, strict=True):
        assert client.answer(number)["result"]["contents"][0]["text"] == "bench"


def test_a_resource_whose_second_daemon_dies_too_is_an_error_of_the_protocol(
    daemons: Succession, attach: Join
) -> None:
    clients = [attach(era) for era in ERAS]
    calls = [client.start("resources/read", uri="workshop://bench") for client in clients]
    for _ in clients:
        daemons.current.await_event("entered", "bench")
    second = daemons.replace()
    for _ in clients:
        second.await_event("entered", "bench")
    daemons.replace()
    for client, number in zip(clients, calls, strict=True):
        error = client.answer(number)["error"]
        assert error["code"] == -32603
        assert error["data"]["code"] == "SERVICE_UNAVAILABLE"
        assert error["data"]["details"]["outcome"] == "unknown"


def test_of_many_calls_that_are_lost_at_once_each_is_answered(
    daemons: Succession, attach: Join
) -> None:
    clients = {era: attach(era) for era in ERAS}
    labels = {era: [f"{era}{number}" for number in range(4)] for era in ERAS}
    writes = {
        era: [client.start_tool("slow_write", label=f"w{label}") for label in labels[era]]
        for era, client in clients.items()
    }
    reads = {
        era: [client.start_tool("slow_read", label=f"r{label}") for label in labels[era]]
        for era, client in clients.items()
    }
    for label in [label for era in ERAS for label in labels[era]]:
        daemons.current.await_event("entered", f"w{label}")
        daemons.current.await_event("entered", f"r{label}")
    second = daemons.replace()
    for era, client in clients.items():
        for label, number in zip(labels[era], reads[era], strict=True):
            second.await_event("entered", f"r{label}")
            second.release(f"r{label}")
            assert client.result(number)["structuredContent"] == {"result": f"r{label}"}
        for number in writes[era]:
            assert error_of(client.result(number))["details"]["outcome"] == "unknown"


def test_what_was_never_sent_is_carried_out_by_the_next_daemon(
    daemons: Succession, attach: Join
) -> None:
    clients = {era: attach(era) for era in ERAS}
    for era, client in clients.items():
        client.tool("memory_store", key=f"{era} before", value={"n": 1}, namespace="never sent")
    daemons.replace()
    for era, client in clients.items():
        client.tool("memory_store", key=f"{era} after", value={"n": 2}, namespace="never sent")
    for client in clients.values():
        assert client.tool("memory_list", namespace="never sent")["total"] == 4
