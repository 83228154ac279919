"""How a command becomes a call of the daemon: checked, traced once, and answered as a tool is."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.domain.access import Caller
from quarterdeck.domain.answer import Answer
from quarterdeck.domain.effect import Effect
from quarterdeck.errors import ToolNotFound
from quarterdeck.services.calls import Call, Calls
from quarterdeck.tools.errors import known_error
from quarterdeck.tools.registry import ToolSpec

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Commanded:
    """What one command asks for; `user` is whoever the command says has typed it."""

    command: str
    tool: str
    arguments: Mapping[str, Any]
    user: str


class Commanding:
    """Runs the tools that commands may ask for."""

    def __init__(self, calls: Calls, tools: Mapping[str, ToolSpec]) -> None:
        self._calls = calls
        self._tools = tools

    async def run(self, asked: Commanded, caller: Caller) -> str:
        """Return the answer's JSON.

        Cancelling it stops the waiting: what looks ends, what changes something is done.
        """
        spec = self._tools.get(asked.tool)
        if spec is None:
            raise ToolNotFound(asked.tool, list(self._tools))
        serving = asyncio.ensure_future(self._serve(spec, asked, caller))
        return await (serving if spec.effect is Effect.READ else asyncio.shield(serving))

    async def _serve(self, spec: ToolSpec, asked: Commanded, caller: Caller) -> str:
        call = Call(
            surface="cli",
            name=f"cli.{asked.command}",
            input=dict(asked.arguments),
            actor=asked.user if caller.token is None else f"token:{caller.token} {asked.user}",
            scopes=caller.scopes,
            recorded=spec.effect is not Effect.READ,
            render=spec.render,
        )

        async def body() -> Answer:
            return await spec.function(**spec.checked(asked.arguments))

        try:
            answer = await self._calls.serve(call, body)
        except Exception as error:
            raise known_error(error, call.call_id) from error
        rendered = call.rendered or spec.render(answer)
        if rendered.problems:
            problems = "; ".join(rendered.problems)
            logger.error("The answer of %s breaks its schema: %s", spec.name, problems)
        return rendered.text
