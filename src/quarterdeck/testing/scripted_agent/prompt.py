"""From a prompt's text to what is done: directives line by line, or else a bit of work."""

from collections.abc import Iterator

from quarterdeck.testing.scripted_agent import params as read
from quarterdeck.testing.scripted_agent.demo import work_on
from quarterdeck.testing.scripted_agent.directives.arguments import BadArguments
from quarterdeck.testing.scripted_agent.directives.table import DIRECTIVES, overview
from quarterdeck.testing.scripted_agent.turn import Turn

MOST_ECHOED = 200


def carry_out(turn: Turn, text: str) -> None:
    """Do what a prompt asks for."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not any(_is_directive(line) for line in lines):
        work_on(turn, text.strip())
        return
    for part in _parts(lines):
        if _is_directive(part):
            _do(turn, part)
        else:
            turn.say(f"You said: {part[:MOST_ECHOED]}")


def _parts(lines: list[str]) -> Iterator[str]:
    """Yield directives alone, and the lines between two of them together."""
    between: list[str] = []
    for line in lines:
        if not _is_directive(line):
            between.append(line)
            continue
        if between:
            yield " ".join(between)
            between = []
        yield line
    if between:
        yield " ".join(between)


def _do(turn: Turn, line: str) -> None:
    name, _, argument = line.removeprefix("/").partition(" ")
    turn.check()
    if name == "help":
        turn.say(overview())
        return
    directive = DIRECTIVES[name]
    try:
        directive.run(turn, argument.strip())
    except BadArguments as error:
        raise read.invalid(f"'/{name} {directive.arguments}': {error}") from error


def _is_directive(line: str) -> bool:
    name = line.split(" ", 1)[0]
    return name.startswith("/") and (name[1:] in DIRECTIVES or name == "/help")
