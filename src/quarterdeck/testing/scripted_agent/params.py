"""Reading the parameters of a request: what is missing or of another type is the caller's error."""

from typing import Any, cast

from quarterdeck.testing.scripted_agent.wire import INVALID_PARAMS, Message, RpcError


def text(params: Message, name: str) -> str:
    """Return a parameter that must be a string."""
    value = params.get(name)
    if not isinstance(value, str):
        raise invalid(f"{name!r} must be a string")
    return value


def folder(params: Message) -> str:
    """Return the session's folder, which the protocol wants to be absolute."""
    cwd = text(params, "cwd")
    if not cwd.startswith("/"):
        raise invalid("'cwd' must be an absolute path")
    return cwd


def items(params: Message, name: str) -> list[Message]:
    """Return a parameter that must be a list of objects."""
    value = params.get(name)
    if not isinstance(value, list) or not all(
        isinstance(item, dict) for item in cast("list[Any]", value)
    ):
        raise invalid(f"{name!r} must be a list of objects")
    return cast("list[Message]", value)


def invalid(details: str) -> RpcError:
    """Return the error for parameters that cannot be used."""
    return RpcError(INVALID_PARAMS, "Invalid params", details)
