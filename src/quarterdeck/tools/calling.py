"""How a request becomes a call: opened before validation, traced once, errors mapped."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import mcp.types as mt
from fastmcp.exceptions import NotFoundError
from fastmcp.prompts import PromptResult
from fastmcp.resources import Resource, ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult

from quarterdeck.domain.access import Caller, Scope
from quarterdeck.domain.answer import Answer
from quarterdeck.domain.guard import require
from quarterdeck.domain.redaction import Redactor
from quarterdeck.errors import InvalidInput, ToolNotFound
from quarterdeck.overrides.names import canonical
from quarterdeck.services.asking import asked_through
from quarterdeck.services.calls import Call, Calls, render_plainly
from quarterdeck.services.crew.badges import is_badge
from quarterdeck.services.recorder import Rendered
from quarterdeck.stdin_lines import UNREADABLE
from quarterdeck.tools.asking import ClientAsking, asking_at
from quarterdeck.tools.errors import (
    error_result,
    in_our_words,
    known_error,
    protocol_error,
    result,
)
from quarterdeck.tools.narrowing import caller_of, chosen_toolsets
from quarterdeck.tools.progress import progress_to
from quarterdeck.tools.registry import ToolSpec
from quarterdeck.tools.resources import ResourceSpec

logger = logging.getLogger(__name__)

_CALLS = frozenset({"tools/call", "resources/read", "prompts/get"})
# Far more than any real name; a longer one is only ever a mistake or an attack.
_NAME_LENGTH = 200
# Who may use it may be asked.
_ANSWERING = "question_answer"
# What a mounted tool does is not known here, so it takes the right to change things.
_FOREIGN = Scope.WRITE


class CallMiddleware(Middleware):
    """Opens a call for each tool call, resource read and prompt, and answers its errors."""

    def __init__(
        self,
        calls: Calls,
        redactor: Redactor,
        tools: Mapping[str, ToolSpec],
        resources: Mapping[str, ResourceSpec] | None = None,
    ) -> None:
        """`tools` are those that are offered, by name; `resources` by URI."""
        self._calls = calls
        self._redactor = redactor
        self._tools = tools
        self._resources = resources or {}
        self._served: Mapping[str, Callable[..., Awaitable[Any]]] = {
            "tools/call": self.on_call_tool,
            "tools/list": self.on_list_tools,
            "resources/read": self.on_read_resource,
            "resources/list": self.on_list_resources,
            "prompts/get": self.on_get_prompt,
        }

    async def __call__(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:  # noqa: ANN401 - as FastMCP declares it
        """Go straight to what is ours to answer; FastMCP's way there costs 30 us."""
        # FastMCP asks for the resources with no more than an empty mapping.
        if isinstance(context.message, Mapping) and context.method != "resources/list":
            return await self._on_raw_message(context, call_next)
        serve = self._served.get(context.method or "")
        return await (call_next(context) if serve is None else serve(context, call_next))

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> Any:  # noqa: ANN401 - FastMCP takes the protocol's own result too, but does not say so
        """Serve a tool call; it always gets a result, never a protocol error.

        Our own tools are answered here: FastMCP's way from here to the tool (a second context,
        a look-up through providers and transforms) costs as much as writing the trace.
        """
        name, sent = context.message.name, context.message.arguments or {}
        call = _call(context, f"mcp.{name}", sent)
        spec = self._tools.get(name)
        try:
            if spec is not None and _is_shown(spec, context):
                return await self._run(spec, call, context)
            call.render = _render_foreign
            return await self._calls.serve(call, partial(self._forward, call, context, call_next))
        except Exception as error:  # noqa: BLE001 - the boundary of this surface
            return error_result(known_error(error, call.call_id), self._redactor)

    async def _run(
        self,
        spec: ToolSpec,
        call: Call,
        context: MiddlewareContext[mt.CallToolRequestParams],
    ) -> mt.CallToolResult | mt.InputRequiredResult:
        call.render = spec.render
        asking = self._asking(context) if spec.asks else None

        async def body() -> Answer:
            _refuse_unreadable(context)
            arguments = spec.checked(context.message.arguments or {})
            with progress_to(context), asked_through(asking):
                return await spec.function(**arguments)

        answer = await self._calls.serve(call, body)
        if asking is not None and asking.required is not None:
            return asking.required
        rendered = call.rendered or spec.render(answer)
        if rendered.problems:
            problems = "; ".join(rendered.problems)
            logger.error("The answer of %s breaks its schema: %s", spec.name, problems)
        return result(rendered.text)

    def _asking(self, context: MiddlewareContext[Any]) -> ClientAsking | None:
        answering = self._tools.get(_ANSWERING)
        may_answer = answering is not None and _is_shown(answering, context)
        return asking_at(context) if may_answer else None

    async def _forward(
        self,
        call: Call,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Hand a call to FastMCP: a mounted tool, or one that is not there."""
        name = context.message.name
        shown = [spec.name for spec in self._tools.values() if _is_shown(spec, context)]
        missing = ToolNotFound(name[:_NAME_LENGTH], shown)
        if name in self._tools or _FOREIGN not in caller_of(context).scopes:
            raise missing  # it is there, but not at this address or not for this caller
        try:
            return await call_next(context)
        except NotFoundError as error:
            call.named = False
            raise missing from error

    async def on_list_tools(
        self,
        context: MiddlewareContext[mt.ListToolsRequest],
        call_next: CallNext[mt.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """List what the request's address and its caller's scopes leave of the offer."""
        tools, chosen = await call_next(context), chosen_toolsets(context)
        scopes = caller_of(context).scopes
        return [
            tool
            for tool in tools
            if self._needed(tool.name) in scopes and (chosen is None or tool.tags & chosen)
        ]

    def _needed(self, name: str) -> Scope:
        spec = self._tools.get(name)
        return _FOREIGN if spec is None else spec.scope

    async def on_read_resource(
        self,
        context: MiddlewareContext[mt.ReadResourceRequestParams],
        call_next: CallNext[mt.ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Serve a resource read; FastMCP words its errors. An older scheme names the same ones."""
        sent = str(context.message.uri)
        call = _call(context, "mcp.resources/read", {"uri": sent})
        if not self._is_readable(uri := canonical(sent), context):
            call_next = _find_nothing
        elif uri != sent:
            context = context.copy(message=context.message.model_copy(update={"uri": uri}))
        return await self._pass_on(call, context, call_next)

    async def on_list_resources(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Resource]]
    ) -> Sequence[Resource]:
        """List what the request's address and its caller's scopes leave of the resources."""
        resources = await call_next(context)
        return [found for found in resources if self._is_readable(str(found.uri), context)]

    def _is_readable(self, uri: str, context: MiddlewareContext[Any]) -> bool:
        spec = self._resources.get(uri)
        return spec is None or _is_shown(spec, context)

    async def on_get_prompt(
        self,
        context: MiddlewareContext[mt.GetPromptRequestParams],
        call_next: CallNext[mt.GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Serve a prompt; FastMCP words its errors."""
        message = context.message
        sent = {"name": message.name, "arguments": message.arguments or {}}
        call = _call(context, "mcp.prompts/get", sent)
        return await self._pass_on(call, context, call_next)

    async def _on_raw_message(
        self, context: MiddlewareContext[Mapping[str, Any]], call_next: CallNext[Any, Any]
    ) -> Any:  # noqa: ANN401 - whatever FastMCP answers
        """Serve a message that FastMCP could not read as what its method says.

        A call among them is refused, and recorded like any other; notifications are no calls.
        """
        if context.method not in _CALLS or context.type != "request":
            return await call_next(context)
        sent = {key: value for key, value in context.message.items() if key != "_meta"}
        call = _call(context, f"mcp.{context.method}", sent)
        return await self._pass_on(call, context, call_next)

    async def _pass_on(
        self, call: Call, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:  # noqa: ANN401 - whatever FastMCP answers
        """Serve what FastMCP answers; its own errors stay in its words, which clients know."""

        async def body() -> Any:  # noqa: ANN401 - whatever FastMCP answers
            require(Scope.READ, call.scopes, call.name)
            with in_our_words():
                return await call_next(context)

        try:
            return await self._calls.serve(call, body)
        except Exception as error:  # noqa: BLE001 - the boundary of this surface
            raise protocol_error(error, call.call_id, self._redactor) from None


def _is_shown(spec: ToolSpec | ResourceSpec, context: MiddlewareContext[Any]) -> bool:
    """Say whether a thing is there for this request; one that is not is like one never heard of.

    A caller that may not use a tool learns nothing from its refusal that it could act on, and a
    model that is shown a tool will try it.
    """
    chosen = chosen_toolsets(context)
    return spec.scope in caller_of(context).scopes and (chosen is None or spec.toolset in chosen)


async def _find_nothing(context: MiddlewareContext[Any]) -> ResourceResult:
    raise NotFoundError(f"Unknown resource: {str(context.message.uri)!r}")


def _render_foreign(answer: object) -> Rendered:
    if isinstance(answer, ToolResult):
        return render_plainly(answer.structured_content or answer.content)
    return render_plainly(answer)


def _refuse_unreadable(context: MiddlewareContext[Any]) -> None:
    """Refuse a request that arrived in pieces no parser could put together (see `stdio`)."""
    request = context.fastmcp_context and context.fastmcp_context.request_context
    problem = (request.meta or {}).get(UNREADABLE) if request else None
    if problem is not None:
        raise InvalidInput(f"The request {problem}", hint="send valid JSON in UTF-8")


def _call(context: MiddlewareContext[Any], name: str, sent: dict[str, Any]) -> Call:
    caller = caller_of(context)
    call = Call(surface="mcp", name=name, input=sent, scopes=caller.scopes)
    fastmcp_context = context.fastmcp_context
    request = fastmcp_context.request_context if fastmcp_context else None
    if fastmcp_context is not None and request is not None:
        call.request_id = str(fastmcp_context.request_id)
        call.actor = _actor(caller, _client_of(request))
        traceparent = (request.meta or {}).get("traceparent")
        call.traceparent = traceparent if isinstance(traceparent, str) else None
    return call


def _actor(caller: Caller, client: str) -> str:
    if caller.token is None:
        return client
    # An agent is known by its own name, whatever it calls itself.
    return caller.token if is_badge(caller.token) else f"token:{caller.token} {client}"


def _client_of(request: Any) -> str:  # noqa: ANN401 - FastMCP does not export its type
    """Return what the client calls itself; it is a label, not a proof."""
    params = request.session.client_params
    if params is None:
        return "mcp"
    return f"{params.client_info.name}/{params.client_info.version}"[:200]
