"""A person at a client of `quarterdeck mcp` is asked, and sees how far a wait has come."""

from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from tests.bridge.conftest import Join
from tests.support.bridges import Era
from tests.support.mcp_clients import ERAS as MODES
from tests.support.people import CLIENTS, Person, at_bridge
from tests.support.workshop_daemons import Succession

pytestmark = pytest.mark.xdist_group("bridge-1")

TASK = "/slow 1\n/ask May I?\n/say done"
ENOUGH_SECONDS = 50


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", CLIENTS)
async def test_the_person_is_asked_and_told_of_progress(
    mode: str, kind: str, daemons: Succession
) -> None:
    assert daemons.current
    person, name = Person(), f"{kind}-{mode}"
    with anyio.fail_after(ENOUGH_SECONDS):
        async with at_bridge(kind, mode, Path(daemons.home), person) as caller:
            await caller.call("create_agent", name=name, project="demo", task=TASK)
            result = await caller.call("wait_for_agent", agent_names=[name])

    assert person.asked == [f"Agent {name!r} asks: May I?"]
    assert result.structured_content is not None
    [agent] = result.structured_content["agents"]
    assert (agent["status"], agent["last_report"]) == ("idle", "done")
    assert all(before.done < after.done for before, after in pairwise(caller.steps))
    assert f"{name} is busy" in [step.words for step in caller.steps]
    assert caller.steps[-1].words == f"{name} is idle"


def test_a_question_that_is_answered_elsewhere_is_taken_back_from_the_client(
    daemons: Succession, attach: Join
) -> None:
    assert daemons.current
    asked, other = attach("legacy"), attach("modern")
    asked.tool("create_agent", name="twice", project="demo", task="/ask May I?")
    call = asked.start_tool("wait_for_agent", agent_names=["twice"])
    question = asked.asked("elicitation/create")

    [found] = other.tool("question_list")["questions"]
    other.tool("question_answer", question_id=found["question_id"], kind="allow_once")

    assert asked.told("notifications/cancelled")["requestId"] == question["id"]
    assert asked.result(call)["structuredContent"]["message"] == "twice is idle"


def test_a_call_that_is_cancelled_leaves_the_question_open(
    daemons: Succession, attach: Join
) -> None:
    assert daemons.current
    client = attach("legacy")
    client.tool("create_agent", name="left", project="demo", task="/ask May I?")
    call = client.start_tool("wait_for_agent", agent_names=["left"])
    question = client.asked("elicitation/create")

    client.notify("notifications/cancelled", requestId=call)

    assert client.told("notifications/cancelled")["requestId"] == question["id"]
    [found] = client.tool("question_list", agent_name="left")["questions"]
    assert found["state"] == "open"


def test_progress_is_told_only_to_who_asked_for_it(
    daemons: Succession, attach: Join, era: Era
) -> None:
    assert daemons.current
    client = attach(era)
    client.tool("create_agent", name=f"quiet-{era}", project="demo", task="/slow 1")
    client.tool("wait_for_agent", agent_names=[f"quiet-{era}"])
    assert client.kept("notifications/progress") == []
