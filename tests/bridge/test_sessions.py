"""What a client set up once stays so, whatever becomes of the daemon."""

from pathlib import Path

import anyio
import pytest

from tests.bridge.conftest import Join
from tests.bridge.test_passing_on import CHANGED, LISTENING, hear_a_change, official
from tests.support.bridges import Bridge, bare_bridge, error_of
from tests.support.workshop_daemons import Succession, http_client, workshop

pytestmark = pytest.mark.xdist_group("bridge-2")

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def test_a_session_is_renewed_with_the_next_daemon(daemons: Succession, attach: Join) -> None:
    client = attach("legacy")
    before = client.tool("session")
    hear_a_change(client, daemons.current)

    daemons.replace()

    assert client.tool("session") != before
    assert client.told(CHANGED) == {}, "the next daemon may offer other tools"
    daemons.current.change("afterwards")
    assert client.told(CHANGED) == {}
    names = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
    assert "afterwards" in names


def test_the_log_level_is_set_again(daemons: Succession, attach: Join) -> None:
    client = attach("legacy")
    client.ask("logging/setLevel", level="warning")
    for _ in range(2):
        client.tool("remark")
        assert client.told("notifications/message")["data"]["msg"] == "in short"
        assert client.kept("notifications/message") == []
        daemons.replace()
    client.tool("remark")
    assert client.told("notifications/message")["data"]["msg"] == "in short"


def test_a_subscription_is_opened_again_and_acknowledged_once(
    daemons: Succession, attach: Join
) -> None:
    client = attach("modern")
    number = client.start("subscriptions/listen", **LISTENING)
    assert client.told(ACKNOWLEDGED)["_meta"][SUBSCRIPTION] == number
    daemons.current.change("before")
    assert client.told(CHANGED)["_meta"][SUBSCRIPTION] == number

    daemons.replace()

    assert client.told(CHANGED)["_meta"][SUBSCRIPTION] == number, "it may offer other tools"
    daemons.current.change("after")
    assert client.told(CHANGED)["_meta"][SUBSCRIPTION] == number
    assert client.kept(ACKNOWLEDGED) == []


async def test_the_official_client_does_not_notice_that_its_subscription_was_opened_again(
    daemons: Succession,
) -> None:
    with anyio.fail_after(50):
        assert daemons.current
        async with (
            official(daemons.home, "auto") as client,
            client.listen(tools_list_changed=True) as changes,
        ):
            await anyio.to_thread.run_sync(daemons.replace)
            await anext(changes)
            daemons.current.change("noticed")
            await anext(changes)
            names = [tool.name for tool in (await client.list_tools()).tools]
    assert "noticed" in names


def test_a_subscription_that_is_cancelled_is_not_opened_again(
    daemons: Succession, attach: Join
) -> None:
    client = attach("modern")
    number = client.start("subscriptions/listen", **LISTENING)
    client.told(ACKNOWLEDGED)
    client.notify("notifications/cancelled", requestId=number)
    daemons.replace()
    again = client.start("subscriptions/listen", **LISTENING)
    assert client.told(ACKNOWLEDGED)["_meta"][SUBSCRIPTION] == again
    daemons.current.change("uncancelled")
    assert client.told(CHANGED)["_meta"][SUBSCRIPTION] == again
    assert client.kept(CHANGED) == []


def test_a_question_dies_with_its_daemon_and_a_late_answer_reaches_no_other(
    daemons: Succession, attach: Join
) -> None:
    client = attach("legacy")
    call = client.start_tool("ask", question="Who?")
    question = client.asked("elicitation/create")

    daemons.replace()

    assert client.told("notifications/cancelled")["requestId"] == question["id"]
    assert error_of(client.result(call))["details"]["outcome"] == "unknown"
    again = client.start_tool("ask", question="And now?")
    second = client.asked("elicitation/create")
    give(client, question["id"], "too late")
    give(client, second["id"], "in time")
    assert client.result(again)["structuredContent"] == {"result": "in time"}


def give(client: Bridge, number: int, answer: str) -> None:
    client.post({"id": number, "result": {"action": "accept", "content": {"value": answer}}})


def test_a_session_that_the_daemon_has_forgotten_is_renewed(
    daemons: Succession, attach: Join
) -> None:
    client = attach("legacy")
    client.ask("logging/setLevel", level="warning")
    hear_a_change(client, daemons.current)
    before = client.tool("session")["result"]

    with http_client(daemons.home) as http:
        assert http.delete("/mcp", headers={"Mcp-Session-Id": before}).status_code == 200

    assert client.tool("session")["result"] != before
    assert client.told(CHANGED) == {}
    daemons.current.change("remembered")
    assert client.told(CHANGED) == {}
    client.tool("remark")
    assert client.told("notifications/message")["data"]["msg"] == "in short"


def test_a_session_that_expired_is_renewed(tmp_path: Path) -> None:
    soon = {"QUARTERDECK_SERVER_SESSION_IDLE_SECONDS": "1"}
    with workshop(tmp_path, soon) as daemon, bare_bridge(tmp_path, "legacy") as client:
        # Without the notification that would have us open a stream, which keeps a session alive.
        client.start_reading()
        client.open_session()
        before = client.tool("session")["result"]
        daemon.await_event("ended", before)

        assert client.tool("session")["result"] != before
        assert client.end()[:2] == (0, "")
