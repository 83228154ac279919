"""`create`, `restart` and `delete`: how agents come and go."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.agents.options import AgentName, TaskWords, Wait, task_of
from quarterdeck.cli.agents.outcome import told_outcome
from quarterdeck.cli.agents.patience import wait_for
from quarterdeck.cli.consent import may_change
from quarterdeck.cli.fleet import FleetClient, Reply, fleet_of, print_reply, tell
from quarterdeck.cli.options import AsJson, Injected, Yes
from quarterdeck.cli.render import remark
from quarterdeck.errors import InvalidInput, QuarterdeckError

# What nothing happens to by itself any more.
AT_REST = frozenset({"stopped", "failed"})


async def create(
    name: AgentName,
    /,
    *task: TaskWords,
    project: Annotated[str, Parameter(help="What it is to work on; see 'projects list'.")],
    role: Annotated[
        str | None, Parameter(help="Which kind of agent, if not the project's default.")
    ] = None,
    wait: Wait = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> int:
    """Create an agent in a workspace of its own, and give it its first task.

    It works in the daemon, and goes on when this command ends.
    """
    text = task_of(task)
    async with fleet_of(invocation) as fleet:
        answer = await fleet.do(
            "agents.create", "create_agent", name=name, project=project, role=role, task=text
        )
        if not wait:
            tell(answer, as_json=as_json)
            return 0
        remark(answer["message"])
        return told_outcome(await wait_for(fleet, [name]), as_json=as_json)


async def restart(
    *names: AgentName,
    all_: Annotated[
        bool,
        Parameter(
            name="--all", negative=(), show_default=False, help="All that are stopped or failed."
        ),
    ] = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Start agents again in their workspaces; each goes on with what was interrupted."""
    if all_ == bool(names):
        raise InvalidInput("Say which agents, or --all, and not both")
    async with fleet_of(invocation) as fleet:
        chosen = await _all_at_rest(fleet) if all_ else names
        answers, errors = await _restarted(fleet, chosen)
    if as_json and not errors:
        print_reply({"restarted": answers})
        return
    for answer in answers:
        remark(answer["message"])
    if not chosen:
        remark("No agent is stopped or failed")
    for error in errors[1:]:
        remark(f"error: {error.message}")
    if errors:
        raise errors[0]


async def delete(
    name: AgentName, /, *, yes: Yes = False, as_json: AsJson = False, invocation: Injected
) -> None:
    """Delete an agent and its workspace; work that exists nowhere else is saved first."""
    async with fleet_of(invocation) as fleet:
        await fleet.look("agents.show", "show_agent", agent_name=name, include_metadata=False)
        if not may_change(f"Delete the agent {name!r} and its workspace?", yes=yes):
            return
        answer = await fleet.do("agents.delete", "delete_agent", agent_name=name)
    tell(answer, as_json=as_json)


async def _restarted(
    fleet: FleetClient, names: Sequence[str]
) -> tuple[list[Reply], list[QuarterdeckError]]:
    """Start agents one after the other; one that cannot be started holds up no other."""
    answers: list[Reply] = []
    errors: list[QuarterdeckError] = []
    for name in names:
        try:
            answers.append(await fleet.do("agents.restart", "restart_agent", agent_name=name))
        except QuarterdeckError as error:
            errors.append(error)
    return answers, errors


async def _all_at_rest(fleet: FleetClient) -> list[str]:
    answer = await fleet.look("agents.list", "list_agents", include_metadata=False)
    return [agent["name"] for agent in answer["agents"] if agent["status"] in AT_REST]
