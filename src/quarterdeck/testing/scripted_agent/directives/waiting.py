"""Directives that take time."""

from quarterdeck.testing.scripted_agent.directives import arguments
from quarterdeck.testing.scripted_agent.tool_call import ToolCall, text_content
from quarterdeck.testing.scripted_agent.turn import Turn

REPORT_EVERY_SECONDS = 0.5
LOOK_EVERY_SECONDS = 0.02
LOOP_EVERY_SECONDS = 0.01


def slow(turn: Turn, argument: str) -> None:
    """Work for some seconds, and keep saying so."""
    left = seconds = arguments.number(argument)
    call = ToolCall(turn, f"Work for {argument} s", "other")
    call.begin()
    while left > 0:
        turn.pause(min(left, REPORT_EVERY_SECONDS))
        left -= REPORT_EVERY_SECONDS
        call.progress(f"{seconds - max(left, 0):g} of {seconds:g} s")
    call.done(content=[text_content(f"worked for {seconds:g} s")])


def wait_for_file(turn: Turn, argument: str) -> None:
    """Wait until a file is there."""
    file = turn.session.cwd / argument
    while not file.exists():
        turn.pause(LOOK_EVERY_SECONDS)


def hang(turn: Turn, _: str) -> None:
    """Never end."""
    turn.wait(lambda: False)


def loop(turn: Turn, _: str) -> None:
    """Call small tools without end."""
    rounds = 0
    while True:
        rounds += 1
        call = ToolCall(turn, f"Round {rounds}", "other")
        call.begin()
        turn.pause(LOOP_EVERY_SECONDS)
        call.done()


def ignore_cancel(turn: Turn, _: str) -> None:
    """Ignore a cancel from here on."""
    turn.ignores_cancel = True
