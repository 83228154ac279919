"""All directives: what follows the name, what it does, and the function that does it."""

from collections.abc import Callable
from typing import NamedTuple

from quarterdeck.testing.scripted_agent.directives import (
    asking,
    commands,
    failing,
    files,
    reporting,
    tools,
    waiting,
)
from quarterdeck.testing.scripted_agent.turn import Turn


class Directive(NamedTuple):
    """A line `/name arguments` of a prompt."""

    run: Callable[[Turn, str], None]
    arguments: str
    summary: str


DIRECTIVES = {
    "say": Directive(reporting.say, "TEXT", "says the text, in pieces"),
    "think": Directive(reporting.think, "TEXT", "thinks it aloud"),
    "plan": Directive(reporting.plan, "A; B; C", "shows a plan"),
    "link": Directive(reporting.link, "URL", "says the address"),
    "env": Directive(reporting.environment, "NAME", "says a variable of its environment"),
    "usage": Directive(reporting.usage, "IN OUT COST", "reports tokens, and a cost in dollars"),
    "run": Directive(commands.run, "COMMAND", "runs a shell command in the workspace"),
    "write": Directive(files.write, "PATH TEXT", "writes a file without asking"),
    "read": Directive(files.read, "PATH", "reads a file and says what it holds"),
    "ask": Directive(asking.ask, "TITLE", "asks for permission and says what was chosen"),
    "ask-edit": Directive(asking.ask_edit, "PATH TEXT", "writes a file if that is allowed"),
    "mcp": Directive(tools.call_tool, "TOOL JSON", "calls a tool of the session's MCP server"),
    "slow": Directive(waiting.slow, "SECONDS", "works for a while and keeps reporting"),
    "wait": Directive(waiting.wait_for_file, "FILE", "waits until the file is there"),
    "hang": Directive(waiting.hang, "", "never ends the turn"),
    "loop": Directive(waiting.loop, "", "calls small tools without end"),
    "ignore-cancel": Directive(waiting.ignore_cancel, "", "ignores a cancel from here on"),
    "big": Directive(reporting.big, "BYTES", "says one huge piece"),
    "flood": Directive(reporting.flood, "BYTES", "says as much in many pieces"),
    "unknown": Directive(reporting.unknown, "TEXT", "sends an update of a kind nobody knows"),
    "stderr": Directive(reporting.complain, "TEXT", "writes a line to standard error"),
    "orphan": Directive(commands.orphan, "FILE", "starts a process that outlives the agent"),
    "refuse": Directive(failing.refuse, "", "ends the turn with the stop reason refusal"),
    "fail": Directive(failing.fail, "TEXT", "answers the prompt with an error"),
    "crash": Directive(failing.crash, "CODE", "ends the agent's process"),
}


def overview() -> str:
    """Return one line for each directive."""
    return "\n".join(
        f"{f'/{name} {directive.arguments}'.strip()}: {directive.summary}"
        for name, directive in DIRECTIVES.items()
    )
