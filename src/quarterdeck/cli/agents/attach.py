"""`attach`: the conversation with an agent, in the terminal."""

import asyncio
import signal
import sys
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.agents.conversation import Conversation, Heard, Interrupted, Typed
from quarterdeck.cli.agents.options import AgentName
from quarterdeck.cli.agents.typed import listen_to_stdin
from quarterdeck.cli.fleet import WAIT_SECONDS, FleetClient, Reply, fleet_of
from quarterdeck.cli.options import Injected
from quarterdeck.cli.render import remark

SHOWN_BEFORE = 10


async def attach(
    name: AgentName,
    /,
    *,
    verbose: Annotated[
        bool,
        Parameter(
            name=("--verbose", "-v"),
            negative=(),
            show_default=False,
            help="Show tool calls, plans and thoughts, too.",
        ),
    ] = False,
    invocation: Injected,
) -> int:
    """Talk with an agent: see what it says as it comes, and type what it is to do.

    Each line is a task, queued if it is busy, or the answer when it asks something. Ctrl-C offers
    to cancel what it does, Ctrl-D leaves; it goes on without you. From a pipe, each line is taken
    when the one before is done, and this ends with the last; the exit code is 4 if that failed.
    """
    level = "DEBUG" if verbose else "INFO"
    async with fleet_of(invocation) as fleet:
        first = await fleet.look(
            "agents.attach", "read_log_end", agent_name=name, count=SHOWN_BEFORE, level=level
        )
        is_live = sys.stdin.isatty()
        if is_live:
            remark(f"{first['agent_name']} is {first['status']}; Ctrl-D leaves")
        conversation = Conversation(fleet, first["agent_name"], is_live=is_live)
        return await _converse(fleet, conversation, first, level)


async def _converse(
    fleet: FleetClient, conversation: Conversation, first: Reply, level: str
) -> int:
    loop, events = asyncio.get_running_loop(), conversation.events
    events.put_nowait(Heard(first))
    following = asyncio.create_task(_follow(fleet, conversation, first, level))

    def hear(line: str | None) -> None:
        loop.call_soon_threadsafe(events.put_nowait, Typed(line))

    loop.add_signal_handler(signal.SIGINT, events.put_nowait, Interrupted())
    listen_to_stdin(hear)
    try:
        return await conversation.run()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        following.cancel()


async def _follow(fleet: FleetClient, conversation: Conversation, seen: Reply, level: str) -> None:
    """Tell the conversation all that happens, the end of it included."""
    try:
        while True:
            seen = await fleet.look(
                "agents.attach",
                "follow_log",
                agent_name=conversation.name,
                seq=seen["seq"],
                offset=seen["offset"],
                state=seen["state"],
                level=level,
                wait_seconds=WAIT_SECONDS,
            )
            conversation.events.put_nowait(Heard(seen))
    except Exception as error:  # noqa: BLE001 - whoever waits for the conversation is told
        conversation.events.put_nowait(error)
