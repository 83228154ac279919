"""`python -m quarterdeck.testing.scripted_agent`: the agent on standard input and output."""

import argparse
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
    """Serve one client, after the fault that was asked for."""
    options = _options()
    if options.exit is not None:
        sys.exit(options.exit)
    if options.silent:
        _read_and_say_nothing()
    if options.late:
        threading.Event().wait(options.late)
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        # As the end of the input: what runs is stopped first.
        signal.signal(signal.SIGTERM, _end)
    _serve(stays=options.stubborn)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripted_agent", description=__doc__)
    parser.add_argument("--silent", action="store_true", help="never answer anything")
    parser.add_argument("--exit", type=int, metavar="CODE", help="end at once")
    parser.add_argument("--late", type=float, metavar="SECONDS", help="begin after some seconds")
    parser.add_argument(
        "--stubborn", action="store_true", help="outlive the input's end and SIGTERM"
    )
    return parser.parse_args()


def _serve(*, stays: bool) -> NoReturn:
    folder = os.environ.get(STATE)
    code = 0
    try:
        wire = Wire(sys.stdin.buffer, sys.stdout.buffer)
        Agent(wire, Conversations(Path(folder) if folder else None)).serve()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BrokenPipeError:
        pass  # the client is gone, and nobody is left to tell
    if stays:
        threading.Event().wait()
    # Without the interpreter's own end, which can hang on a turn that is writing to a full pipe.
    os._exit(code)


def _end(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


def _read_and_say_nothing() -> NoReturn:
    for _ in sys.stdin.buffer:
        pass
    sys.exit(0)


if __name__ == "__main__":
    main()
