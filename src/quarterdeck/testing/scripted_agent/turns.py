"""The turns that are running, one thread each, so that a cancel can be heard meanwhile."""

import threading

from quarterdeck.testing.scripted_agent.prompt import carry_out
from quarterdeck.testing.scripted_agent.turn import Turn, TurnEnded
from quarterdeck.testing.scripted_agent.wire import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    Message,
    RpcError,
    Wire,
)

SECONDS_TO_STOP = 1.0  # for a command that has to be killed, or a client that reads no more


class Turns:
    """At most one turn for each session."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._running: dict[str, tuple[Turn, threading.Thread]] = {}

    def begin(self, request_id: object, turn: Turn, text: str) -> None:
        """Work on a prompt; the request is answered when the work is done."""
        if turn.session.id in self._running:
            raise RpcError(INVALID_REQUEST, "Invalid request", "a turn is running already")
        turn.session.record({"role": "user", "text": text})
        work = threading.Thread(target=self._run, args=(request_id, turn, text), daemon=True)
        self._running[turn.session.id] = (turn, work)
        work.start()

    def cancel(self, session_id: str) -> None:
        """Ask a session's turn to stop, if there is one."""
        if session_id in self._running:
            self._running[session_id][0].cancel()

    def stop(self, session_id: str) -> None:
        """Stop a session's turn whether it listens or not, and wait for that."""
        if running := self._running.get(session_id):
            turn, work = running
            turn.cancel(force=True)
            work.join(SECONDS_TO_STOP)

    def stop_all(self) -> None:
        """Leave nothing running."""
        for session_id in list(self._running):
            self.stop(session_id)

    def _run(self, request_id: object, turn: Turn, text: str) -> None:
        outcome = _outcome_of(turn, text)
        # First, because the client may send the next prompt as soon as it has the answer.
        del self._running[turn.session.id]
        if isinstance(outcome, RpcError):
            self._wire.fail(request_id, outcome)
        else:
            self._wire.answer(request_id, outcome)


def _outcome_of(turn: Turn, text: str) -> Message | RpcError:
    try:
        carry_out(turn, text)
        turn.check()
    except TurnEnded as ended:
        return _result(turn, ended.stop_reason)
    except RpcError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a turn must be answered, whatever happened
        return RpcError(INTERNAL_ERROR, "Internal error", repr(error))
    return _result(turn, "end_turn")


def _result(turn: Turn, stop_reason: str) -> Message:
    usage = {"usage": turn.usage} if turn.usage else {}
    return {"stopReason": stop_reason, **usage}
