"""A tool call as the client sees it: begun, then done or failed."""

from quarterdeck.testing.scripted_agent.turn import Turn
from quarterdeck.testing.scripted_agent.wire import Message


class ToolCall:
    """One tool call of a turn."""

    def __init__(self, turn: Turn, title: str, kind: str, **fields: object) -> None:
        self.id = turn.session.next_call_id()
        self._turn = turn
        self._begun = {"toolCallId": self.id, "title": title, "kind": kind, **fields}

    def as_question(self) -> Message:
        """Return the call as a permission request shows it."""
        return {**self._begun, "status": "pending"}

    def begin(self, status: str = "in_progress") -> None:
        """Report the call."""
        self._turn.update("tool_call", **self._begun, status=status)

    def progress(self, text: str) -> None:
        """Report what there is to see so far."""
        self._update("in_progress", content=[text_content(text)])

    def done(self, **fields: object) -> None:
        """Report that it worked."""
        self._update("completed", **fields)

    def failed(self, **fields: object) -> None:
        """Report that it did not."""
        self._update("failed", **fields)

    def _update(self, status: str, **fields: object) -> None:
        self._turn.update("tool_call_update", toolCallId=self.id, status=status, **fields)


def text_content(text: str) -> Message:
    """Return text as a tool call's content."""
    return {"type": "content", "content": {"type": "text", "text": text}}
