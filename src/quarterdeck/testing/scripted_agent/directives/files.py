"""Directives on the workspace's files."""

from pathlib import Path

from quarterdeck.testing.scripted_agent.directives import arguments
from quarterdeck.testing.scripted_agent.tool_call import ToolCall, text_content
from quarterdeck.testing.scripted_agent.turn import Turn
from quarterdeck.testing.scripted_agent.wire import Message, RpcError


def write(turn: Turn, argument: str) -> None:
    """Write a file without asking."""
    name, content = arguments.words(argument, 2)
    put(turn, turn.session.cwd / name, arguments.text(content) + "\n")


def put(turn: Turn, file: Path, content: str) -> None:
    """Write a file, reported as an edit."""
    call = editing(turn, file, content)
    call.begin()
    store(file, content)
    call.done()


def editing(turn: Turn, file: Path, content: str) -> ToolCall:
    """Return a tool call that shows the edit as a difference."""
    before = {"oldText": _text_of(file)} if file.exists() else {}
    change: Message = {"type": "diff", "path": str(file), "newText": content, **before}
    locations = [{"path": str(file)}]
    return ToolCall(turn, f"Write {file.name}", "edit", content=[change], locations=locations)


def store(file: Path, content: str) -> None:
    """Write a file, and the folders it needs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")


def read(turn: Turn, argument: str) -> None:
    """Read a file and say what it holds."""
    file = turn.session.cwd / argument
    call = ToolCall(turn, f"Read {argument}", "read", locations=[{"path": str(file)}])
    call.begin()
    try:
        content = _read_through_client(turn, file) if turn.client_reads_files else _text_of(file)
    except (OSError, RpcError) as error:
        call.failed(content=[text_content(str(error))])
        turn.say(f"I cannot read {argument}.")
        return
    call.done(content=[text_content(content)])
    turn.say(content)


def _read_through_client(turn: Turn, file: Path) -> str:
    return turn.ask_client("fs/read_text_file", {"path": str(file)})["content"]


def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
