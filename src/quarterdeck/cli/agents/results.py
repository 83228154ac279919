"""`diff`, `merge` and `push`: the work of agents, and how it leaves their workspace."""

import sys
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.agents.options import AgentName
from quarterdeck.cli.fleet import FleetClient, Reply, fleet_of, print_reply, tell
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import print_table, printable, remark

_COUNTS = ("added", "deleted")
_COLOURS = {"+": "green", "-": "red", "@": "cyan", "d": "bold"}


async def diff(
    name: AgentName,
    /,
    *,
    stat: Annotated[
        bool,
        Parameter(negative=(), show_default=False, help="Only list the files that changed."),
    ] = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Print what an agent changed since it began, what it never committed included."""
    async with fleet_of(invocation) as fleet:
        answer = await _whole(fleet, name)
    if as_json:
        print_reply(answer)
        return
    if answer.get("reason"):
        remark(answer["reason"])
    elif not answer["files"]:
        remark(f"{name} has changed nothing")
    elif stat:
        rows = [_file(change) for change in answer["files"]]
        print_table(("FILE", "STATUS", "ADDED", "DELETED"), rows)
    else:
        _print_patch(answer["patch"])
    if answer["truncated"]:
        remark("The patch is longer than what is shown; git in the workspace shows all of it")


async def merge(
    name: AgentName,
    /,
    *,
    into: Annotated[
        str | None, Parameter(help="Branch to merge into, if not the one it came from.")
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Merge the work of an agent into a branch of its repository."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.do("agents.merge", "merge_agent", agent_name=name, into=into)
    tell(answer, as_json=as_json)


async def push(
    name: AgentName,
    /,
    *,
    remote: Annotated[str, Parameter(help="Remote of the repository.")] = "origin",
    branch: Annotated[
        str | None, Parameter(help="Name of the branch there, if not the agent's own.")
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Push the branch of an agent to a remote of its repository."""
    async with fleet_of(invocation) as fleet:
        answer = await fleet.do(
            "agents.push", "push_agent", agent_name=name, remote=remote, branch=branch
        )
    tell(answer, as_json=as_json)


async def _whole(fleet: FleetClient, name: str) -> Reply:
    """Return the diff with all pages of its patch in one."""
    answer = await fleet.look("agents.diff", "show_agent_diff", agent_name=name)
    patch, page = [answer["patch"]], 1
    while page < answer["total_pages"]:
        page += 1
        more = await fleet.look("agents.diff", "show_agent_diff", agent_name=name, page=page)
        patch.append(more["patch"])
    whole = {**answer, "patch": "".join(patch)}
    return {key: whole[key] for key in whole if key not in {"page", "total_pages", "has_next_page"}}


def _file(change: Reply) -> tuple[str, ...]:
    counts = (change[kind] for kind in ("added", "deleted"))
    return (
        change["path"],
        change["status"],
        *("-" if each is None else str(each) for each in counts),
    )


def _print_patch(patch: str) -> None:
    """Print a patch: in colours at a terminal, to the letter for other programs."""
    if not sys.stdout.isatty():
        sys.stdout.write(patch)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in patch.splitlines():
        console.print(Text(printable(line.expandtabs(4)), _COLOURS.get(line[:1], "")))
