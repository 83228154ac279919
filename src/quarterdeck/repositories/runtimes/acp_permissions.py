"""Permission requests of the Agent Client Protocol, and their answers."""

from typing import Any

from quarterdeck.domain.agent_events import PermissionRequest
from quarterdeck.domain.questions import Option, OptionKind
from quarterdeck.repositories.runtimes.acp_updates import tool_call
from quarterdeck.repositories.runtimes.wire_values import Wire, object_at, objects_at, text_at

WITHDRAWN: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}

_KINDS = frozenset(kind.value for kind in OptionKind)


def permission_request(params: Wire) -> PermissionRequest:
    """Return what is asked; options of a kind that nobody knows cannot be chosen."""
    asked = object_at(params, "toolCall")
    call = tool_call(asked)
    return PermissionRequest(
        title=call.title or "something it does not name",
        tool_kind=call.tool_kind,
        options=tuple(
            Option(
                id=text_at(option, "optionId"),
                name=text_at(option, "name"),
                kind=OptionKind(text_at(option, "kind")),
            )
            for option in objects_at(params, "options")
            if text_at(option, "kind") in _KINDS and text_at(option, "optionId")
        ),
        paths=call.paths,
        details=object_at(asked, "rawInput") or None,
    )


def chosen(option_id: str) -> dict[str, Any]:
    """Return the answer that names an option."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def is_refusal(request: PermissionRequest, option_id: str | None) -> bool:
    """Say whether an answer is a no."""
    kinds = {option.kind for option in request.options if option.id == option_id}
    return bool(kinds & {OptionKind.REJECT_ONCE, OptionKind.REJECT_ALWAYS})
