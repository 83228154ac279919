"""What can go wrong between us and an agent; runtimes translate it."""

from typing import Any, cast

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
TOO_MANY_REQUESTS = -32001


class Disconnected(Exception):
    """The agent's side of the connection is closed; nothing more will be answered."""


class RpcError(Exception):
    """A request was answered with an error, by the agent or by us."""

    def __init__(self, code: int, message: str, details: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details

    @classmethod
    def from_wire(cls, error: object) -> "RpcError":
        if not isinstance(error, dict):
            return cls(INTERNAL_ERROR, str(error))
        fields = cast("dict[str, Any]", error)
        code, message, data = fields.get("code"), fields.get("message"), fields.get("data")
        details: object = data
        if isinstance(data, dict):
            details = cast("dict[str, Any]", data).get("details")
        return cls(
            code if isinstance(code, int) else INTERNAL_ERROR,
            message if isinstance(message, str) else "unknown error",
            str(details) if details else None,
        )

    @property
    def words(self) -> str:
        """Return what is useful of it: agents say "Internal error", and the rest in the details."""
        return f"{self.message}: {self.details}" if self.details else self.message
