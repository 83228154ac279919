"""Directives that only report: messages, thoughts, plans, figures, and what no client expects."""

import os
import sys

from quarterdeck.testing.scripted_agent.directives import arguments
from quarterdeck.testing.scripted_agent.turn import Turn

CONTEXT_SIZE = 200_000
FLOOD_PIECE = 16 * 1024


def say(turn: Turn, argument: str) -> None:
    """Say a text."""
    turn.say(arguments.text(argument))


def think(turn: Turn, argument: str) -> None:
    """Think a text aloud."""
    content = {"type": "text", "text": arguments.text(argument)}
    turn.update("agent_thought_chunk", content=content)


def plan(turn: Turn, argument: str) -> None:
    """Show a plan whose first entry is being worked on."""
    show_plan(turn, [entry.strip() for entry in argument.split(";") if entry.strip()])


def show_plan(turn: Turn, entries: list[str], done: int = 0) -> None:
    """Show a plan of which some entries are done and the next one is being worked on."""
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(entries)
    turn.update(
        "plan",
        entries=[
            {"content": entry, "priority": "medium", "status": state}
            for entry, state in zip(entries, states, strict=False)
        ],
    )


def usage(turn: Turn, argument: str) -> None:
    """Report tokens and cost."""
    tokens_in, tokens_out, cost = map(arguments.number, arguments.words(argument, 3))
    count(turn, int(tokens_in), int(tokens_out), cost)


def count(turn: Turn, tokens_in: int, tokens_out: int, cost: float) -> None:
    """Report a turn's tokens, and the session's cost so far: the protocol wants it cumulative."""
    turn.session.spend(cost)
    total = tokens_in + tokens_out
    turn.usage = {"inputTokens": tokens_in, "outputTokens": tokens_out, "totalTokens": total}
    spent = {"amount": turn.session.cost, "currency": "USD"}
    turn.update("usage_update", used=total, size=CONTEXT_SIZE, cost=spent)


def link(turn: Turn, argument: str) -> None:
    """Say an address."""
    turn.say(f"See {argument}")


def environment(turn: Turn, argument: str) -> None:
    """Say what a variable of the environment holds."""
    value = os.environ.get(argument)
    turn.say(f"{argument} is not set" if value is None else f"{argument}={value}")


def big(turn: Turn, argument: str) -> None:
    """Say one huge piece."""
    turn.say_piece("x" * int(arguments.number(argument)))


def flood(turn: Turn, argument: str) -> None:
    """Say as much, in many pieces."""
    left = int(arguments.number(argument))
    while left > 0:
        turn.say_piece("x" * min(left, FLOOD_PIECE))
        left -= FLOOD_PIECE


def unknown(turn: Turn, argument: str) -> None:
    """Send an update of a kind that no client knows."""
    turn.update("scripted_surprise", surprise=argument or "nobody knows this kind")


def complain(turn: Turn, argument: str) -> None:
    """Write a line to standard error."""
    turn.check()
    sys.stderr.write(f"{argument}\n")
    sys.stderr.flush()
