"""The agent's side of the protocol: one method for each request it answers."""

from typing import TYPE_CHECKING

from quarterdeck.testing.scripted_agent import params as read
from quarterdeck.testing.scripted_agent.conversations import Conversations
from quarterdeck.testing.scripted_agent.session import Session
from quarterdeck.testing.scripted_agent.turn import Turn
from quarterdeck.testing.scripted_agent.turns import Turns
from quarterdeck.testing.scripted_agent.wire import METHOD_NOT_FOUND, Message, RpcError, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

PROTOCOL_VERSION = 1
NAME = {"name": "quarterdeck-scripted-agent", "title": "Scripted agent", "version": "1"}


class Agent:
    """Answers a client; all but the turns at once, in the thread that reads."""

    def __init__(self, wire: Wire, conversations: Conversations) -> None:
        self._wire = wire
        self._conversations = conversations
        self._sessions: dict[str, Session] = {}
        self._turns = Turns(wire)
        self._client_reads_files = False
        self._methods: dict[str, Callable[[Message], Message]] = {
            "initialize": self._initialize,
            "authenticate": lambda _: {},
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
        }

    def serve(self) -> None:
        """Answer until the client closes the connection, then leave nothing running."""
        try:
            for message in self._wire.requests():
                self._handle(message)
        finally:
            self._turns.stop_all()

    def _handle(self, message: Message) -> None:
        method: str = message["method"]
        params: Message = message.get("params") or {}
        if "id" not in message:
            if method == "session/cancel":
                self._turns.cancel(str(params.get("sessionId")))
            return
        try:
            if method == "session/prompt":
                self._begin_turn(message["id"], params)
            else:
                self._wire.answer(message["id"], self._result(method, params))
        except RpcError as error:
            self._wire.fail(message["id"], error)

    def _result(self, method: str, params: Message) -> Message:
        if method not in self._methods:
            raise RpcError(METHOD_NOT_FOUND, "Method not found", f"no method {method!r}")
        return self._methods[method](params)

    def _initialize(self, params: Message) -> Message:
        self._client_reads_files = _reads_files(params.get("clientCapabilities"))
        kept = self._conversations.kept
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentInfo": NAME,
            "authMethods": [],
            "agentCapabilities": {
                "loadSession": kept,
                "mcpCapabilities": {"http": True, "sse": False},
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
                "sessionCapabilities": {
                    "list": {},
                    "close": {},
                    **({"resume": {}} if kept else {}),
                },
            },
        }

    def _new(self, params: Message) -> Message:
        servers = read.items(params, "mcpServers")
        session = Session.new(read.folder(params), servers, self._conversations)
        self._sessions[session.id] = session
        return {"sessionId": session.id, **_state_of(session)}

    def _load(self, params: Message) -> Message:
        session = self._reopened(params, read.items(params, "mcpServers"))
        for event in self._conversations.read(session.id):
            if "role" in event:
                self._replay(session, event)
        return _state_of(session)

    def _resume(self, params: Message) -> Message:
        return _state_of(self._reopened(params, params.get("mcpServers") or []))

    def _reopened(self, params: Message, servers: list[Message]) -> Session:
        session_id, cwd = read.text(params, "sessionId"), read.folder(params)
        if not self._conversations.read(session_id):
            raise read.invalid(f"no session {session_id!r}")
        self._forget(session_id)
        session = Session.loaded(session_id, cwd, servers, self._conversations)
        self._sessions[session.id] = session
        return session

    def _replay(self, session: Session, event: Message) -> None:
        update = {
            "sessionUpdate": f"{event['role']}_message_chunk",
            "content": {"type": "text", "text": event["text"]},
        }
        self._wire.notify("session/update", {"sessionId": session.id, "update": update})

    def _list(self, params: Message) -> Message:
        open_now = {session.id: str(session.cwd) for session in self._sessions.values()}
        folders = self._conversations.folders() | open_now
        wanted = params.get("cwd")
        return {
            "sessions": [
                {"sessionId": session_id, "cwd": cwd}
                for session_id, cwd in folders.items()
                if wanted in {None, cwd}
            ]
        }

    def _close(self, params: Message) -> Message:
        self._forget(self._session(params).id)
        return {}

    def _forget(self, session_id: str) -> None:
        self._turns.stop(session_id)
        self._sessions.pop(session_id, None)

    def _set_mode(self, params: Message) -> Message:
        self._session(params).set_mode(read.text(params, "modeId"))
        return {}

    def _set_option(self, params: Message) -> Message:
        session = self._session(params)
        session.set_option(read.text(params, "configId"), read.text(params, "value"))
        return {"configOptions": session.options()}

    def _session(self, params: Message) -> Session:
        session_id = read.text(params, "sessionId")
        if session_id not in self._sessions:
            raise read.invalid(f"no session {session_id!r}")
        return self._sessions[session_id]

    def _begin_turn(self, request_id: object, params: Message) -> None:
        session = self._session(params)
        text = _text_of(read.items(params, "prompt"))
        turn = Turn(self._wire, session, client_reads_files=self._client_reads_files)
        self._turns.begin(request_id, turn, text)


def _reads_files(capabilities: Message | None) -> bool:
    files: Message = (capabilities or {}).get("fs") or {}
    return bool(files.get("readTextFile"))


def _state_of(session: Session) -> Message:
    return {"modes": session.modes(), "configOptions": session.options()}


def _text_of(blocks: list[Message]) -> str:
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
