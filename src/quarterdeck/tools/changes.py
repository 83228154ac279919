"""Telling clients that what they were listed has changed.

In protocol 2026-07-28 a client asks to be told, by `subscriptions/listen`; in the older ones
every session is told.
"""

from typing import Any
from weakref import WeakSet

import anyio
from fastmcp import FastMCP
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.types import NotificationParams, SubscriptionsListenRequestParams

# A client that does not read must not hold up those that do.
TOLD_WITHIN_SECONDS = 2


class Changes:
    """Knows who listens to a server."""

    def __init__(self, server: FastMCP[Any]) -> None:
        """Note each session that begins on `server`, and serve subscriptions."""
        self._bus = InMemorySubscriptionBus()
        self._sessions: WeakSet[Connection] = WeakSet()
        # FastMCP serves neither. Handlers of the SDK's cost nothing on other messages, which
        # middleware would.
        sdk_server = server._mcp_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - FastMCP has no other way to it
        sdk_server.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, ListenHandler(self._bus)
        )
        sdk_server.add_notification_handler(
            "notifications/initialized", NotificationParams, self._begin
        )

    async def announce(self) -> None:
        """Tell everybody that all lists may have changed."""
        for event in (ToolsListChanged(), ResourcesListChanged(), PromptsListChanged()):
            await self._bus.publish(event)
        with anyio.move_on_after(TOLD_WITHIN_SECONDS):
            async with anyio.create_task_group() as telling:
                for session in list(self._sessions):
                    telling.start_soon(_tell, session)

    async def _begin(self, context: ServerRequestContext[Any, Any], _: NotificationParams) -> None:
        self._sessions.add(context.session._connection)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - what lasts longer than the message


async def _tell(session: Connection) -> None:
    await session.send_tool_list_changed()
    await session.send_resource_list_changed()
    await session.send_prompt_list_changed()
