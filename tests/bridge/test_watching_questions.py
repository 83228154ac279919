"""A client of `quarterdeck mcp` is told that agents ask, if it wants to be."""

import anyio
import pytest

from tests.bridge.conftest import Join
from tests.bridge.test_passing_on import official
from tests.support.bridges import Bridge
from tests.support.workshop_daemons import Succession

pytestmark = pytest.mark.xdist_group("bridge-2")

URI, ALIAS = "quarterdeck://questions", "automatosx://questions"
UPDATED = "notifications/resources/updated"


def ask_something(client: Bridge, name: str) -> None:
    client.tool("create_agent", name=name, project="demo", task="/ask May I?")


def answer_it(client: Bridge, name: str) -> None:
    [question] = client.tool("question_list", agent_name=name)["questions"]
    client.tool("question_answer", question_id=question["question_id"], kind="allow_once")


@pytest.mark.parametrize("uri", [URI, ALIAS])
def test_a_client_of_the_older_protocol_subscribes(
    daemons: Succession, attach: Join, uri: str
) -> None:
    assert daemons.current
    watching, other = attach("legacy"), attach("modern")
    name = uri.partition(":")[0]
    assert "result" in watching.ask("resources/subscribe", uri=uri)

    ask_something(other, name)
    assert watching.told(UPDATED) == {"uri": uri}
    answer_it(other, name)
    assert watching.told(UPDATED) == {"uri": uri}

    assert "result" in watching.ask("resources/unsubscribe", uri=uri)
    ask_something(other, f"{name}-2")
    waiting = {"agent_names": [f"{name}-2"], "until": "question"}
    asked = other.ask("tools/call", name="wait_for_agent", arguments=waiting)
    assert asked["result"]["resultType"] == "input_required"
    answer_it(other, f"{name}-2")
    assert watching.kept(UPDATED) == []


def test_a_client_of_the_newer_protocol_listens(daemons: Succession, attach: Join) -> None:
    assert daemons.current
    client = attach("modern")
    listening = {"resourceSubscriptions": [URI, "quarterdeck://nothing"]}
    client.start("subscriptions/listen", notifications=listening)
    honored = client.told("notifications/subscriptions/acknowledged")["notifications"]
    assert honored == {"resourceSubscriptions": [URI]}

    ask_something(client, "heard")
    assert client.told(UPDATED)["uri"] == URI
    answer_it(client, "heard")
    assert client.told(UPDATED)["uri"] == URI


async def test_the_official_client_listens(daemons: Succession) -> None:
    assert daemons.current
    task = {"name": "listened", "project": "demo", "task": "/ask May I?"}
    with anyio.fail_after(50):
        async with (
            official(daemons.home, "auto") as client,
            client.listen(resource_subscriptions=[URI]) as changes,
        ):
            await client.call_tool("create_agent", task)
            assert type(await anext(changes)).__name__ == "ResourceUpdated"


def test_what_is_not_there_cannot_be_watched(daemons: Succession, attach: Join) -> None:
    assert daemons.current
    client = attach("legacy")
    for uri in ("quarterdeck://nothing", "test://watched-resource"):
        error = client.ask("resources/subscribe", uri=uri)["error"]
        assert error["message"] == f"Resource not found: {uri!r}"
