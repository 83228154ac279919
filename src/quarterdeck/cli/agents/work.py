"""`task`, `cancel` and `wait`: giving agents work, stopping it, and its end."""

from typing import Annotated, Literal

from cyclopts import Parameter

from quarterdeck.cli.agents.options import AgentName, TaskWords, Wait, task_of
from quarterdeck.cli.agents.outcome import told_outcome
from quarterdeck.cli.agents.patience import wait_for
from quarterdeck.cli.fleet import fleet_of, tell
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import remark
from quarterdeck.errors import InvalidInput


async def task(
    name: AgentName,
    /,
    *task: TaskWords,
    queue: Annotated[
        bool,
        Parameter(
            negative=(), show_default=False, help="If it is busy, give it the task afterwards."
        ),
    ] = False,
    wait: Wait = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> int:
    """Give an agent another task."""
    text = task_of(task)
    async with fleet_of(invocation) as fleet:
        answer = await fleet.do(
            "agents.task", "start_agent_task", agent_name=name, task_description=text, queue=queue
        )
        if not wait:
            tell(answer, as_json=as_json)
            return 0
        remark(answer["message"])
        return told_outcome(await wait_for(fleet, [name]), as_json=as_json)


async def cancel(name: AgentName, /, *, as_json: AsJson = False, invocation: Injected) -> None:
    """Stop what an agent is doing; it stays, and can be given another task."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.do("agents.cancel", "cancel_agent_task", agent_name=name)
    tell(answer, as_json=as_json)


async def wait(
    *names: AgentName,
    until: Annotated[
        Literal["idle", "changed", "question"],
        Parameter(help="What to wait for: all at rest, any change, or a question."),
    ] = "idle",
    seconds: Annotated[
        float | None,
        Parameter(
            name="--timeout", help="Seconds to wait at most; without it, as long as it takes."
        ),
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> int:
    """Wait for agents.

    The exit code is 0 when what was waited for came true. When all are waited for to be at rest,
    it is 4 if one of them failed, was canceled or asks something; 7 when the time was up first.
    """
    if not names:
        raise InvalidInput("Say which agents to wait for", hint="'agents list' shows them")
    async with fleet_of(invocation) as fleet:
        answer = await wait_for(fleet, names, until=until, seconds=seconds)
    return told_outcome(answer, until=until, as_json=as_json)
