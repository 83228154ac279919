"""Telling clients that what they were listed, or what they read, has changed.

In protocol 2026-07-28 a client asks to be told, by `subscriptions/listen`; in the older ones
every session is told of lists, and of a resource whoever has subscribed to it.
"""

from collections.abc import AsyncIterable
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from fastmcp import FastMCP
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    EmptyResult,
    NotificationParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from quarterdeck.overrides.names import ALIAS, OURS, canonical
from quarterdeck.tools.narrowing import caller_at
from quarterdeck.tools.resources import WATCHED

# A client that does not read must not hold up those that do.
TOLD_WITHIN_SECONDS = 2

Context = ServerRequestContext[Any, Any]


class Changes:
    """Knows who listens to a server."""

    def __init__(self, server: FastMCP[Any]) -> None:
        """Note each session that begins on `server`, and serve subscriptions."""
        self._bus = InMemorySubscriptionBus()
        self._sessions: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()
        # FastMCP serves none of them. Handlers of the SDK's cost nothing on other messages, which
        # middleware would.
        sdk_server = server._mcp_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - FastMCP has no other way to it
        sdk_server.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, Listening(self._bus)
        )
        sdk_server.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, self._subscribe
        )
        sdk_server.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe
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

    async def announce_each(self, changes: AsyncIterable[object], uri: str) -> None:
        """Tell those who watch a resource of each of its changes, under the name they gave it."""
        async for _ in changes:
            for name in (uri, ALIAS + uri.removeprefix(OURS)):
                await self._updated(name)

    async def _updated(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        with anyio.move_on_after(TOLD_WITHIN_SECONDS):
            async with anyio.create_task_group() as telling:
                for session, watched in list(self._sessions.items()):
                    if uri in watched:
                        telling.start_soon(session.send_resource_updated, uri)

    async def _begin(self, context: Context, _: NotificationParams) -> None:
        self._sessions.setdefault(_connection(context), set())

    async def _subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        _refuse_unwatchable(params.uri, context)
        self._sessions.setdefault(_connection(context), set()).add(params.uri)
        return EmptyResult()

    async def _unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        _refuse_unwatchable(params.uri, context)
        self._sessions.setdefault(_connection(context), set()).discard(params.uri)
        return EmptyResult()


class Listening(ListenHandler):
    """Serves `subscriptions/listen`; of resources, only those that the caller may read."""

    async def __call__(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream."""
        asked = params.notifications
        uris = [uri for uri in asked.resource_subscriptions or () if _may_watch(uri, ctx)]
        honored = asked.model_copy(update={"resource_subscriptions": uris})
        return await super().__call__(ctx, params.model_copy(update={"notifications": honored}))


def _may_watch(uri: str, context: Context) -> bool:
    needed = WATCHED.get(canonical(uri))
    return needed is not None and needed in caller_at(context.request).scopes


def _refuse_unwatchable(uri: str, context: Context) -> None:
    if not _may_watch(uri, context):
        message = f"Resource not found: {uri!r}"
        raise MCPError(code=INVALID_PARAMS, message=message, data={"uri": uri})


def _connection(context: Context) -> Connection:
    return context.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - what lasts longer than the message


async def _tell(session: Connection) -> None:
    await session.send_tool_list_changed()
    await session.send_resource_list_changed()
    await session.send_prompt_list_changed()
