"""One conversation with the agent: where it works, its mode and model, and what it has cost."""

import os
from pathlib import Path

from quarterdeck.testing.scripted_agent import params as read
from quarterdeck.testing.scripted_agent.conversations import Conversations
from quarterdeck.testing.scripted_agent.wire import Message

MODES = {"default": "Default", "plan": "Plan"}
MODELS = {"scripted": "Scripted", "scripted-large": "Scripted, large"}


class Session:
    """A session; what changes is recorded, for whoever loads it later."""

    def __init__(
        self, session_id: str, cwd: str, mcp_servers: list[Message], log: Conversations
    ) -> None:
        self.id = session_id
        self.cwd = Path(cwd)
        self.mcp_servers = mcp_servers
        self.mode = "default"
        self.model = "scripted"
        self.cost = 0.0
        self._log = log

    @classmethod
    def new(cls, cwd: str, mcp_servers: list[Message], log: Conversations) -> "Session":
        """Begin a conversation."""
        session = cls(os.urandom(12).hex(), cwd, mcp_servers, log)
        session.record({"cwd": cwd})
        return session

    @classmethod
    def loaded(
        cls, session_id: str, cwd: str, mcp_servers: list[Message], log: Conversations
    ) -> "Session":
        """Return a session as an earlier process left it."""
        session = cls(session_id, cwd, mcp_servers, log)
        for event in log.read(session_id):
            session.mode = event.get("mode", session.mode)
            session.model = event.get("model", session.model)
            session.cost = event.get("cost", session.cost)
        return session

    def record(self, event: Message) -> None:
        """Keep an event of the conversation."""
        self._log.add(self.id, event)

    def next_call_id(self) -> str:
        """Return an id for a tool call, unique in the session."""
        return f"call-{os.urandom(6).hex()}"

    def set_mode(self, mode: str) -> None:
        """Change the mode."""
        if mode not in MODES:
            raise read.invalid(f"no mode {mode!r}; there are {', '.join(MODES)}")
        self.mode = mode
        self.record({"mode": mode})

    def set_option(self, option: str, value: str) -> None:
        """Change a configuration option; the model is the only one."""
        if option != "model":
            raise read.invalid(f"no option {option!r}; there is 'model'")
        if value not in MODELS:
            raise read.invalid(f"no model {value!r}; there are {', '.join(MODELS)}")
        self.model = value
        self.record({"model": value})

    def spend(self, dollars: float) -> None:
        """Add to the cost."""
        self.cost += dollars
        self.record({"cost": self.cost})

    def modes(self) -> Message:
        """Return the mode and those there are, as the protocol wants them."""
        return {
            "currentModeId": self.mode,
            "availableModes": [{"id": key, "name": name} for key, name in MODES.items()],
        }

    def options(self) -> list[Message]:
        """Return the configuration options, as the protocol wants them."""
        return [
            {
                "type": "select",
                "id": "model",
                "name": "Model",
                "category": "model",
                "currentValue": self.model,
                "options": [{"value": key, "name": name} for key, name in MODELS.items()],
            }
        ]
