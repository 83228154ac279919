"""`logs`: what an agent said and did, and what it adds."""

from typing import Annotated, Literal

from cyclopts import Parameter

from quarterdeck.cli.agents.options import AgentName
from quarterdeck.cli.agents.said import Printer, stamped
from quarterdeck.cli.fleet import HEAR_SECONDS, WORKING, FleetClient, Reply, fleet_of, print_reply
from quarterdeck.cli.options import AsJson, Injected


async def logs(
    name: AgentName,
    /,
    *,
    lines: Annotated[
        int, Parameter(name=("--lines", "-n"), help="How many of the last entries to show.")
    ] = 20,
    level: Annotated[
        Literal["debug", "info", "warn", "error"],
        Parameter(help="Least severe entry to show; debug has the tool calls, too."),
    ] = "debug",
    follow: Annotated[
        bool,
        Parameter(
            name=("--follow", "-f"),
            negative=(),
            show_default=False,
            help="Go on with what is added, until Ctrl-C.",
        ),
    ] = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Show what an agent said and did, oldest first.

    With --json, each entry is a line; one that goes on is continued by a line of the same seq.
    """
    printer = Printer(stamped)
    async with fleet_of(invocation) as fleet:
        answer = await fleet.look(
            "agents.logs", "read_log_end", agent_name=name, count=lines, level=level.upper()
        )
        while True:
            for entry in answer["logs"]:
                if as_json:
                    print_reply(entry)
                else:
                    printer.show(entry)
            is_end = not follow and not answer["has_more"]
            if is_end or answer["status"] not in WORKING:
                printer.end()
            if is_end:
                return
            answer = await _more(fleet, name, answer, level)


async def _more(fleet: FleetClient, name: str, seen: Reply, level: str) -> Reply:
    return await fleet.look(
        "agents.logs",
        "follow_log",
        agent_name=name,
        seq=seen["seq"],
        offset=seen["offset"],
        level=level.upper(),
        wait_seconds=HEAR_SECONDS,
    )
