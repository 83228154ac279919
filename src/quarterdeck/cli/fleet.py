"""The daemon of the home, as commands over the fleet ask it."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.program import Invocation, user_name
from quarterdeck.cli.render import remark
from quarterdeck.errors import DaemonLost, InternalError, Unavailable, error_from

if TYPE_CHECKING:
    import httpx2

    from quarterdeck.daemon.address import Address

CONNECT_SECONDS = 5
# Agents' work is pushed over networks of all kinds; nothing that is asked for takes longer.
ANSWER_SECONDS = 600
# A wait ends after this and begins again, so that a daemon that is to stop soon can.
WAIT_SECONDS = 10
# The last word of an unfinished message is shown after this.
HEAR_SECONDS = 2
# In these something will happen to an agent by itself.
WORKING = frozenset({"pending", "starting", "busy", "canceling", "stopping", "deleting"})

Reply = dict[str, Any]


class FleetClient:
    """Asks the daemon, which runs the agents; no command does so itself."""

    def __init__(self, home: Path, client: "httpx2.AsyncClient", address: "Address") -> None:
        self._home = home
        self._client = client
        self._use(address)

    async def look(self, command: str, tool: str, **arguments: object) -> Reply:
        """Ask for what changes nothing; asked again of the next daemon when one goes away."""
        try:
            return await self._ask(command, tool, arguments)
        except DaemonLost:
            return await self._ask(command, tool, arguments)

    async def do(self, command: str, tool: str, **arguments: object) -> Reply:
        """Have something changed."""
        return await self._ask(command, tool, arguments)

    async def _ask(self, command: str, tool: str, arguments: dict[str, object]) -> Reply:
        import httpx2

        self._check()
        given = {name: value for name, value in arguments.items() if value is not None}
        asked = {"command": command, "tool": tool, "arguments": given, "user": user_name()}
        try:
            answer = await self._client.post("/control/call", json=asked)
            body = answer.json()
        except httpx2.TransportError as error:
            raise DaemonLost from error
        except json.JSONDecodeError as error:
            raise InternalError from error
        if answer.is_success:
            return body
        raise error_from(body["error"])

    def _check(self) -> None:
        """See that the daemon is there; its port may belong to somebody who must not get our key.

        It is not started again: whoever stopped it while a command waits for agents meant it.
        """
        from quarterdeck.daemon.address import find

        found = find(self._home)
        if found is None:
            raise Unavailable(
                "The Quarterdeck daemon has ended, and its agents with it",
                hint="'quarterdeck agents restart --all' starts both again",
            )
        if found != self._address:
            self._use(found)

    def _use(self, address: "Address") -> None:
        from quarterdeck.daemon.key import read_key

        self._address = address
        self._client.base_url = address.url
        self._client.headers["Authorization"] = f"Bearer {read_key(self._home)}"


@asynccontextmanager
async def fleet_of(invocation: Invocation) -> AsyncGenerator[FleetClient]:
    """Find the daemon of the home, or start it, and ask it while inside."""
    import httpx2

    from quarterdeck.bridge.attach import attach

    home = invocation.find_home()
    address = await asyncio.to_thread(attach, home, os.environ, remark)
    timeout = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    # Without the environment's proxies: the daemon is on this machine.
    async with httpx2.AsyncClient(timeout=timeout, trust_env=False) as client:
        yield FleetClient(home, client, address)


def print_reply(reply: Reply) -> None:
    """Print an answer as other surfaces get it."""
    print(json.dumps(reply, ensure_ascii=False), flush=True)


def tell(reply: Reply, *, as_json: bool) -> None:
    """Print an answer as JSON, or tell the person what it comes to."""
    print_reply(reply) if as_json else remark(reply["message"])
