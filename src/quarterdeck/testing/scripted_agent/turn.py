"""One prompt being worked on: what directives report through, and where they can be stopped."""

import threading
from collections.abc import Callable
from typing import NoReturn, TypeVar

from quarterdeck.testing.scripted_agent.session import Session
from quarterdeck.testing.scripted_agent.wire import Message, RpcError, Wire

T = TypeVar("T")


class TurnEnded(Exception):
    """The turn ends here, with a stop reason."""

    def __init__(self, stop_reason: str) -> None:
        super().__init__(stop_reason)
        self.stop_reason = stop_reason


class Turn:
    """Everything that may take time goes through `wait`, so that a cancel ends it at once."""

    def __init__(self, wire: Wire, session: Session, *, client_reads_files: bool) -> None:
        self.session = session
        self.client_reads_files = client_reads_files
        self.ignores_cancel = False
        self.usage: Message | None = None
        self._wire = wire
        self._changed = threading.Condition()
        self._cancelled = False
        self._has_spoken = False

    def cancel(self, *, force: bool = False) -> None:
        """Stop the turn, unless it was told to ignore that."""
        if self.ignores_cancel and not force:
            return
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def wait(self, done: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until `done` or for some seconds, and say whether it is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._cancelled or done(), seconds)
            self.check()
            return done()

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self.wait(_never, seconds)

    def check(self) -> None:
        """End the turn here if it was cancelled."""
        if self._cancelled:
            raise TurnEnded("cancelled")

    def in_background(self, work: Callable[[], T]) -> T:
        """Return what `work` returns; a cancel leaves it behind."""
        outcome: list[Callable[[], T]] = []

        def run() -> None:
            outcome.append(_outcome_of(work))
            with self._changed:
                self._changed.notify_all()

        threading.Thread(target=run, daemon=True).start()
        self.wait(lambda: bool(outcome))
        return outcome[0]()

    def ask_client(self, method: str, params: Message) -> Message:
        """Send the client a request of this session and return its result."""
        answers: list[Message] = []

        def arrived(answer: Message) -> None:
            with self._changed:
                answers.append(answer)
                self._changed.notify_all()

        self._wire.ask(method, {"sessionId": self.session.id, **params}, arrived)
        self.wait(lambda: bool(answers))
        if "error" in answers[0]:
            error = answers[0]["error"]
            raise RpcError(error["code"], error["message"])
        return answers[0]["result"]

    def update(self, kind: str, /, **fields: object) -> None:
        """Report progress."""
        self.check()
        self._has_spoken = self._has_spoken and kind == "agent_message_chunk"
        update = {"sessionUpdate": kind, **fields}
        self._wire.notify("session/update", {"sessionId": self.session.id, "update": update})

    def say(self, text: str) -> None:
        """Say something, piece by piece as a model would."""
        # Clients put the pieces together: without this, two messages would run into one word.
        spoken = f"\n{text}" if self._has_spoken else text
        for piece in _pieces(spoken):
            self.say_piece(piece)
        self._has_spoken = True
        self.session.record({"role": "agent", "text": text})

    def say_piece(self, text: str) -> None:
        """Send one piece of a message; it is not kept for those who load the session."""
        self.update("agent_message_chunk", content={"type": "text", "text": text})


def _pieces(text: str) -> list[str]:
    """Split in three or so, between words: pieces of one letter would only be slow."""
    words = text.split(" ")
    size = max(1, -(-len(words) // 3))
    groups = [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
    return [f"{group} " for group in groups[:-1]] + groups[-1:]


def _outcome_of(work: Callable[[], T]) -> Callable[[], T]:
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 - raised again in the thread that asked
        return _raiser(error)
    return lambda: result


def _raiser(error: Exception) -> Callable[[], NoReturn]:
    def raise_it() -> NoReturn:
        raise error

    return raise_it


def _never() -> bool:
    return False
