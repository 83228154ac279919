"""Directives that start other programs."""

import contextlib
import os
import signal
from typing import TYPE_CHECKING

from quarterdeck.testing.scripted_agent.directives.waiting import wait_for_file
from quarterdeck.testing.scripted_agent.tool_call import ToolCall, text_content
from quarterdeck.testing.scripted_agent.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Generator
    from subprocess import Popen

# The file appears with the number already in it; `exec` keeps the number.
ORPHAN = 'echo $$ > "$1.new" && mv "$1.new" "$1" && exec sleep 31536000'


def run(turn: Turn, argument: str) -> None:
    """Run a shell command in the workspace; a cancel kills it with all its children."""
    call = ToolCall(turn, argument, "execute", rawInput={"command": argument})
    call.begin()
    with _shell(turn, argument) as shell:
        output, _ = turn.in_background(shell.communicate)
    report = call.done if shell.returncode == 0 else call.failed
    report(
        content=[text_content(output.decode(errors="replace"))],
        rawOutput={"exitCode": shell.returncode},
    )


@contextlib.contextmanager
def _shell(turn: Turn, command: str) -> "Generator[Popen[bytes]]":
    from subprocess import DEVNULL, PIPE, STDOUT, Popen

    shell = Popen(  # noqa: S603 - running what the prompt says is the point
        ["/bin/sh", "-c", command],
        cwd=turn.session.cwd,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        process_group=0,
    )
    try:
        yield shell
    finally:
        # macOS says "not permitted" where only a dead process is left in the group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(shell.pid, signal.SIGKILL)


def orphan(turn: Turn, argument: str) -> None:
    """Start a process in a session of its own, which ends only when it is killed."""
    from subprocess import DEVNULL, Popen

    file = turn.session.cwd / argument
    Popen(  # noqa: S603 - a fixed script
        ["/bin/sh", "-c", ORPHAN, "orphan", str(file)],
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )
    wait_for_file(turn, str(file))
    turn.say(f"orphan: {file.read_text(encoding='utf-8').strip()}")
