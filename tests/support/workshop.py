"""Tools of the tests' own: a service that waits, fails and nests as a test needs it."""

from collections.abc import Awaitable
from typing import Any

import anyio
from fastmcp import FastMCP

from quarterdeck.domain.answer import Answer
from quarterdeck.domain.effect import Effect
from quarterdeck.ports.store import Transaction
from quarterdeck.services.operation import Operation, operation
from quarterdeck.testing import Deck
from quarterdeck.tools.calling import CallMiddleware
from quarterdeck.tools.registry import Toolset
from quarterdeck.tools.server import listed
from quarterdeck.tools.texts import ArgumentText, ToolText
from tests.support.stores import Gate


class Made(Answer):
    text: str


class Workshop:
    """Operations on the product's own database; `failure` is what `fail` raises."""

    def __init__(self, deck: Deck) -> None:
        self.operations = deck.quarterdeck.memory.operations
        self.memory = deck.quarterdeck.memory
        self.entered, self.released, self.left = anyio.Event(), anyio.Event(), anyio.Event()
        self.gate: Gate[Made] = Gate(lambda _tx: Made(text="committed"))
        self.failure: Exception = RuntimeError("nothing was set to fail with")

    @operation("workshop.wait", Effect.WRITE)
    async def wait(self, _op: Operation) -> Made:
        self.entered.set()
        await self.released.wait()
        return Made(text="waited")

    @operation("workshop.commit", Effect.WRITE)
    async def commit(self, op: Operation) -> Made:
        return await op.commit(self.gate)

    @operation("workshop.build", Effect.WRITE, long=True)
    async def build(self, _op: Operation) -> Made:
        self.entered.set()
        await self.released.wait()
        return Made(text="built")

    @operation("workshop.build_badly", Effect.WRITE, long=True)
    async def build_badly(self, _op: Operation) -> Made:
        raise self.failure

    @operation("workshop.nest", Effect.WRITE)
    async def nest(self, _op: Operation, key: str) -> Made:
        await self.memory.store(key, {"made": True}, namespace="inside")
        return Made(text="nested")

    @operation("workshop.fail", Effect.WRITE)
    async def fail(self, _op: Operation) -> Made:
        raise self.failure

    @operation("workshop.roll_back", Effect.WRITE)
    async def roll_back(self, op: Operation, write: Any) -> Made:  # noqa: ANN401 - any decision
        def decide(tx: Transaction) -> Made:
            write(tx)
            raise self.failure

        return await op.commit(decide)


def workshop_tools(workshop: Workshop) -> Toolset:
    tools = Toolset("workshop")

    async def leaving(work: Awaitable[Made]) -> Made:
        # By now the operation has written its trace, whether or not the client still waits.
        try:
            return await work
        finally:
            workshop.left.set()

    @tools.tool(Effect.WRITE)
    async def wait() -> Made:
        return await leaving(workshop.wait())

    @tools.tool(Effect.WRITE)
    async def commit() -> Made:
        return await leaving(workshop.commit())

    @tools.tool(Effect.WRITE)
    async def build() -> Made:
        return await leaving(workshop.build())

    @tools.tool(Effect.WRITE)
    async def nest(key: str) -> Made:
        return await workshop.nest(key)

    @tools.tool(Effect.WRITE)
    async def fail(secret: str = "") -> Made:
        return await workshop.fail()

    @tools.tool(Effect.READ)
    async def raise_outside() -> Made:
        raise workshop.failure

    return tools


def server_with(deck: Deck, toolset: Toolset) -> FastMCP[Any]:
    """Return a server of the test's own tools on the services of `deck`."""
    specs = {spec.name: spec for spec in toolset.tools}
    services = deck.services
    middleware = CallMiddleware(services.calls, services.redactor, specs)
    server: FastMCP[Any] = FastMCP("test", middleware=[middleware], mask_error_details=True)
    for spec in specs.values():
        arguments = {name: ArgumentText(description=name) for name in spec.arguments.model_fields}
        text = ToolText(title=spec.name, description=spec.name, arguments=arguments)
        server.add_tool(listed(spec, text))
    return server
