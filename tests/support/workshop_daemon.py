"""A daemon with tools that wait, ask and report: `quarterdeck up`, and a few tools more.

It prints what its tools do, one JSON object a line, and takes commands on stdin:
`release LABEL` lets a waiting call go on, `change NAME` adds a tool and tells all clients.
"""

import asyncio
import json
import sys
import threading
from collections import defaultdict
from contextlib import suppress
from typing import Any, TypeVar

from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp.server.subscriptions import SubscriptionBus, ToolsListChanged
from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ToolAnnotations,
)

from quarterdeck import serve
from quarterdeck.__main__ import main

READ = ToolAnnotations(read_only_hint=True)
LEGACY = "2025-11-25"
R = TypeVar("R")


def say(event: str, label: str) -> None:
    sys.stdout.write(json.dumps({"event": event, "label": label}) + "\n")
    sys.stdout.flush()


class Sessions(Middleware):
    """Remembers the sessions of the older protocols, which have to be told of changes."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    async def on_message(self, context: MiddlewareContext[Any], call_next: CallNext[Any, R]) -> R:
        found = context.fastmcp_context
        # Our own listing at the start has no session.
        if found is not None and context.source == "client":
            with suppress(RuntimeError):
                self._note(found.session_id, found.session)
        return await call_next(context)

    def _note(self, session_id: str, session: Any) -> None:  # noqa: ANN401 - as FastMCP has it
        if session.protocol_version == LEGACY and session_id not in self.known:
            self.known[session_id] = session
            session._connection.exit_stack.callback(self._forget, session_id)

    def _forget(self, session_id: str) -> None:
        del self.known[session_id]
        say("ended", session_id)


class Workshop:
    """What the tools share: gates that a command opens, and whom to tell of changes."""

    def __init__(self, server: FastMCP[Any]) -> None:
        self.server = server
        self.gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.sessions = Sessions()
        server.add_middleware(self.sessions)

    async def wait(self, label: str) -> str:
        say("entered", label)
        try:
            await self.gates[label].wait()
        except asyncio.CancelledError:
            say("cancelled", label)
            raise
        self.gates.pop(label, None)  # closed for the next
        say("left", label)
        return label

    async def change(self, name: str) -> None:
        self.server.tool(lambda: name, name=name)
        await self.subscribers().publish(ToolsListChanged())
        for session in list(self.sessions.known.values()):
            await session.send_tool_list_changed()
        say("changed", name)

    def subscribers(self) -> SubscriptionBus:
        served = self.server._mcp_server.get_request_handler("subscriptions/listen")  # pyright: ignore[reportPrivateUsage] - no other way to it
        assert served is not None
        return served.handler._bus  # pyright: ignore[reportFunctionMemberAccess] - the handler is the SDK's ListenHandler

    def obey(self, line: str) -> None:
        command, label = line.split()
        if command == "release":
            self.gates[label].set()
        else:
            self.changing = asyncio.create_task(self.change(label))

    def listen_to_commands(self) -> None:
        loop = asyncio.get_running_loop()

        def read() -> None:
            for line in sys.stdin:
                loop.call_soon_threadsafe(self.obey, line)

        threading.Thread(target=read, daemon=True).start()


def add_waiting_tools(server: FastMCP[Any], workshop: Workshop) -> None:
    @server.tool(annotations=READ)
    async def slow_read(label: str) -> str:
        return await workshop.wait(label)

    @server.tool
    async def slow_write(label: str) -> str:
        return await workshop.wait(label)

    @server.resource("workshop://bench")
    async def bench() -> str:
        return await workshop.wait("bench")


def add_speaking_tools(server: FastMCP[Any]) -> None:
    @server.tool(annotations=READ)
    async def count_to(number: int, context: Context) -> int:
        for step in range(1, number + 1):
            await context.report_progress(step, number, f"step {step}")
        return number

    @server.tool
    async def remark(context: Context) -> str:
        await context.debug("in detail")
        await context.warning("in short")
        return "said"

    @server.tool(annotations=READ)
    async def session(context: Context) -> str:
        return context.session_id

    @server.tool
    async def ask(question: str, context: Context) -> str | InputRequiredResult:
        if context.session.protocol_version == LEGACY:
            answer = await context.elicit(question, str)
            return f"{answer.data}" if isinstance(answer, AcceptedElicitation) else answer.action
        if context.input_responses:
            given = context.input_responses["name"]
            assert isinstance(given, ElicitResult)
            return f"{(given.content or {})['value']} ({context.request_state})"
        schema = {"type": "object", "properties": {"value": {"type": "string"}}}
        params = ElicitRequestFormParams(message=question, requested_schema=schema)
        return InputRequiredResult(
            input_requests={"name": ElicitRequest(params=params)}, request_state="second round"
        )


plainly = serve.build_server


def build_with_workshop(*arguments: Any, **named: Any) -> FastMCP[Any]:  # noqa: ANN401 - passed on
    server = plainly(*arguments, **named)
    workshop = Workshop(server)
    add_waiting_tools(server, workshop)
    add_speaking_tools(server)
    workshop.listen_to_commands()
    return server


if __name__ == "__main__":
    serve.build_server = build_with_workshop
    sys.argv = ["quarterdeck", "up", "--port", "0"]
    main()
