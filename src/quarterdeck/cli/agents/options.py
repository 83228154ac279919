"""What commands over agents have in common."""

import sys
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.errors import InvalidInput

FROM_STDIN = "-"

AgentName = Annotated[str, Parameter(name="NAME", help="Name of the agent.")]
TaskWords = Annotated[
    str,
    Parameter(
        name="TASK",
        help="What it is to do; - reads it from stdin.",
        allow_leading_hyphen=True,  # for - alone
    ),
]
Wait = Annotated[
    bool,
    Parameter(
        negative=(), show_default=False, help="Wait until it is done, as 'agents wait' does."
    ),
]


def task_of(words: tuple[str, ...]) -> str:
    """Return the text of a task, which may come from stdin."""
    if strange := [word for word in words if word.startswith("-") and word != FROM_STDIN]:
        raise InvalidInput(
            f'Unknown option: "{strange[0]}"', hint="put a task that has it in quotes"
        )
    text = sys.stdin.read() if words == (FROM_STDIN,) else " ".join(words)
    if not text.strip():
        raise InvalidInput(
            "There is no task", hint="say what the agent is to do, or - to read it from stdin"
        )
    return text


def short(text: str | None, length: int = 50) -> str:
    """Return the first line of a text, cut to fit a table."""
    lines = (text or "").strip().splitlines()
    line = lines[0] if lines else ""
    return line if len(line) <= length and len(lines) < 2 else f"{line[: length - 1]}…"  # noqa: PLR2004 - one line, or more
