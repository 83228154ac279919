"""What an agent tells of its work over the Agent Client Protocol, as events."""

from collections import OrderedDict
from typing import TYPE_CHECKING

from quarterdeck.domain.agent_events import AgentEvent, Planned, Said, Spent, UsedTool
from quarterdeck.repositories.runtimes.acp_notices import noticed
from quarterdeck.repositories.runtimes.wire_values import (
    Wire,
    amount_at,
    number_at,
    object_at,
    objects_at,
    text_at,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# An agent that never ends its calls must not make us remember all of them.
_MOST_CALLS = 1000
_ENDED = frozenset({"completed", "failed", "cancelled"})


class Updates:
    """Translates one agent's updates; a tool call's later ones say only what has changed."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, UsedTool] = OrderedDict()
        self._kinds: dict[str, Callable[[Wire], AgentEvent]] = {
            "agent_message_chunk": _said,
            "agent_thought_chunk": lambda update: _said(update, is_thought=True),
            "user_message_chunk": _said_by_user,
            "tool_call": self._used_tool,
            "tool_call_update": self._used_tool,
            "plan": _planned,
            "usage_update": _spent,
        }

    def event(self, update: Wire) -> AgentEvent:
        """Return what happened; a kind that nobody knows yet is an event too."""
        kind = text_at(update, "sessionUpdate")
        translate = self._kinds.get(kind)
        return translate(update) if translate else noticed(kind or "update", update)

    def _used_tool(self, update: Wire) -> UsedTool:
        call_id = text_at(update, "toolCallId")
        call = tool_call(update, self._calls.pop(call_id, None))
        if call.status not in _ENDED:
            self._calls[call_id] = call
        if len(self._calls) > _MOST_CALLS:
            self._calls.popitem(last=False)
        return call


def tool_call(update: Wire, before: UsedTool | None = None) -> UsedTool:
    """Return a tool call as it stands now."""
    call_id = text_at(update, "toolCallId")
    known = before or UsedTool(call_id=call_id, title=call_id)
    return UsedTool(
        call_id=call_id,
        title=text_at(update, "title") or known.title,
        tool_kind=text_at(update, "kind") or known.tool_kind,
        status=text_at(update, "status") or known.status,
        text="\n".join(filter(None, map(_content_text, objects_at(update, "content")))),
        paths=_paths(update) or known.paths,
    )


def _said(update: Wire, *, is_thought: bool = False) -> Said:
    return Said(
        text=block_text(object_at(update, "content")),
        is_thought=is_thought,
        message_id=text_at(update, "messageId") or None,
    )


def _said_by_user(update: Wire) -> Said:
    return Said(text=block_text(object_at(update, "content")), by="user")


def block_text(block: Wire) -> str:
    """Return a block of content as text; what is no text is named."""
    kind = text_at(block, "type")
    if kind == "text":
        return text_at(block, "text")
    if kind == "resource_link":
        return text_at(block, "uri")
    if kind == "resource":
        resource = object_at(block, "resource")
        return text_at(resource, "text") or text_at(resource, "uri")
    return f"[{kind or 'unknown content'}]"


def _content_text(content: Wire) -> str:
    match text_at(content, "type"):
        case "content":
            return block_text(object_at(content, "content"))
        case "diff":
            return f"changes {text_at(content, 'path')}"
        case _:
            return ""


def _paths(update: Wire) -> tuple[str, ...]:
    places = objects_at(update, "locations") + objects_at(update, "content")
    found = (text_at(place, "path") for place in places)
    return tuple(dict.fromkeys(path for path in found if path))


def _planned(update: Wire) -> Planned:
    entries = objects_at(update, "entries")
    return Planned(tuple((text_at(e, "content"), text_at(e, "status", "pending")) for e in entries))


def _spent(update: Wire) -> Spent:
    cost = object_at(update, "cost")
    return Spent(
        cost=amount_at(cost, "amount"),
        currency=text_at(cost, "currency") or None,
        context_used=number_at(update, "used"),
        context_size=number_at(update, "size"),
    )
