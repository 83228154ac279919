"""`/control/call`: what the commands of this machine have the daemon do."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quarterdeck.domain.access import CALLER, Caller
from quarterdeck.errors import InvalidInput
from quarterdeck.web.control import HEADERS


class Asked(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    command: Annotated[str, Field(pattern=r"^[a-z]+(\.[a-z]+)*$", max_length=100)]
    tool: str
    arguments: dict[str, Any]
    user: Annotated[str, Field(min_length=1, max_length=200)]


Carry = Callable[[Asked, Caller], Awaitable[str]]


def command_route(carry_out: Carry) -> Route:
    """Return the route; a command that is gone no longer waits."""

    async def call(request: Request) -> Response:
        try:
            asked = Asked.model_validate_json(await request.body())
        except ValidationError as error:
            raise InvalidInput(
                "The request is no command", hint="'quarterdeck upgrade' may help"
            ) from error
        answer = await _unless_gone(request, carry_out(asked, request.scope[CALLER]))
        return Response(answer, headers=HEADERS, media_type="application/json")

    return Route("/control/call", call, methods=["POST"])


async def _unless_gone(request: Request, work: Awaitable[str]) -> str:
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else ""
    finally:
        working.cancel()
        watching.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
