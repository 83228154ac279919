"""Directives that need somebody's permission."""

from quarterdeck.testing.scripted_agent.directives import arguments
from quarterdeck.testing.scripted_agent.directives.files import editing, store
from quarterdeck.testing.scripted_agent.tool_call import ToolCall
from quarterdeck.testing.scripted_agent.turn import Turn

OPTIONS = [
    {"optionId": "allow-once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
]


def ask(turn: Turn, argument: str) -> None:
    """Ask for permission and say what was chosen."""
    call = ToolCall(turn, argument, "execute")
    call.begin("pending")
    if _is_allowed(turn, call):
        call.done()
    else:
        call.failed()


def ask_edit(turn: Turn, argument: str) -> None:
    """Write a file if that is allowed."""
    name, content = arguments.words(argument, 2)
    file, new = turn.session.cwd / name, arguments.text(content) + "\n"
    call = editing(turn, file, new)
    call.begin("pending")
    if _is_allowed(turn, call):
        store(file, new)
        call.done()
    else:
        call.failed()


def _is_allowed(turn: Turn, call: ToolCall) -> bool:
    question = {"toolCall": call.as_question(), "options": OPTIONS}
    outcome = turn.ask_client("session/request_permission", question)["outcome"]
    chosen = outcome.get("optionId", "cancelled")
    turn.say(f"permission: {chosen}")
    return chosen.startswith("allow")
