"""What can go wrong when an agent starts or should end, by flags of the command line."""

import argparse
import signal
import sys
import threading
from typing import NoReturn


def begin_with(flags: list[str]) -> bool:
    """Carry out what the flags say; return whether the agent will not end when it should."""
    options = _parser().parse_args(flags)
    if options.exit is not None:
        sys.exit(options.exit)
    if options.silent:
        _read_and_say_nothing()
    if options.late:
        threading.Event().wait(options.late)
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return options.stubborn


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m quarterdeck.testing.scripted_agent",
        description="An ACP agent on standard input and output, which does what its prompt says.",
    )
    parser.add_argument("--silent", action="store_true", help="never answer")
    parser.add_argument("--exit", type=int, metavar="CODE", help="end at once")
    parser.add_argument("--late", type=float, metavar="SECONDS", help="begin after some seconds")
    parser.add_argument(
        "--stubborn", action="store_true", help="go on when the input ends and on SIGTERM"
    )
    return parser


def _read_and_say_nothing() -> NoReturn:
    for _ in sys.stdin.buffer:
        pass
    sys.exit(0)
