"""Waiting for agents with a line that shows how they stand."""

import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from quarterdeck.cli.fleet import WAIT_SECONDS, FleetClient, Reply
from quarterdeck.cli.render import printable

if TYPE_CHECKING:
    from rich.status import Status

# How old the line may be that somebody looks at.
LIVE_SECONDS = 1
LONGEST_LINE = 100


async def wait_for(
    fleet: FleetClient, names: Sequence[str], *, until: str = "idle", seconds: float | None = None
) -> Reply:
    """Return how the agents stand once it came true, one asks something, or time is up."""
    ends_at = None if seconds is None else time.monotonic() + seconds
    before: Reply | None = None
    with _live_line() as line:
        while True:
            answer = await fleet.look(
                "agents.wait",
                "wait_for_agent",
                agent_names=list(names),
                until=until,
                timeout_seconds=_next(ends_at, LIVE_SECONDS if line else WAIT_SECONDS),
            )
            if before and until == "changed" and answer["agents"] != before["agents"]:
                return {**answer, "timed_out": False}  # it changed between two looks
            if not answer["timed_out"] or (ends_at and time.monotonic() >= ends_at):
                return answer
            before = answer
            if line is not None:
                line.update(_standing(answer))


def _next(ends_at: float | None, most: int) -> int:
    left = most if ends_at is None else ends_at - time.monotonic()
    return max(1, min(most, round(left)))


@contextmanager
def _live_line() -> "Generator[Status | None]":
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("Waiting") as line:
        yield line


def _standing(answer: Reply) -> str:
    from rich.markup import escape

    told = (
        f"{agent['name']} is {agent['status']}: {agent.get('last_report') or agent['last_task']}"
        for agent in answer["agents"]
    )
    return escape(printable(", ".join(told))[:LONGEST_LINE])
