"""Directives that end a turn, or the agent, otherwise than well."""

import os
from typing import NoReturn

from quarterdeck.testing.scripted_agent.directives import arguments
from quarterdeck.testing.scripted_agent.turn import Turn, TurnEnded
from quarterdeck.testing.scripted_agent.wire import INTERNAL_ERROR, RpcError


def crash(_: Turn, argument: str) -> NoReturn:
    """End the process at once."""
    os._exit(int(arguments.number(argument or "1")))


def refuse(_: Turn, __: str) -> NoReturn:
    """End the turn as a model does that will not."""
    raise TurnEnded("refusal")


def fail(_: Turn, argument: str) -> NoReturn:
    """Answer the prompt with an error."""
    raise RpcError(INTERNAL_ERROR, "Internal error", argument)
