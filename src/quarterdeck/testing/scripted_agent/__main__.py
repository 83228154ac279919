"""`python -m quarterdeck.testing.scripted_agent`: the agent on standard input and output."""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import NoReturn

from quarterdeck.testing.scripted_agent.agent import Agent
from quarterdeck.testing.scripted_agent.conversations import Conversations
from quarterdeck.testing.scripted_agent.wire import Wire

STATE = "QUARTERDECK_SCRIPTED_STATE"


def main() -> NoReturn:
    """Serve one client, and leave nothing running behind."""
    signal.signal(signal.SIGTERM, _end)
    stubborn = _begin_with_faults(sys.argv[1:])
    code = _serve()
    if stubborn:
        sys.stderr.write("The input has ended, but not this agent.\n")
        threading.Event().wait()
    # Without the interpreter's own end, which can hang on a turn that is writing to a full pipe.
    os._exit(code)


def _begin_with_faults(flags: list[str]) -> bool:
    if not flags:
        return False  # as most do, without loading a parser
    from quarterdeck.testing.scripted_agent.faults import begin_with

    return begin_with(flags)


def _serve() -> int:
    folder = os.environ.get(STATE)
    conversations = Conversations(Path(folder) if folder else None)
    try:
        Agent(Wire(sys.stdin.buffer, sys.stdout.buffer), conversations).serve()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def _end(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
