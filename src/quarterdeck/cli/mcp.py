"""`quarterdeck mcp`: the entry that MCP clients launch."""

import os
import sys
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.options import Injected, ReadOnly, Toolsets
from quarterdeck.cli.render import remark
from quarterdeck.errors import InvalidInput
from quarterdeck.setting_sources import environment_name
from quarterdeck.toolsets import find_unknown


async def mcp(
    *,
    standalone: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Keep everything in this process.")
    ] = False,
    read_only: ReadOnly = None,
    toolsets: Toolsets = None,
    invocation: Injected,
) -> None:
    """Serve MCP over stdio, for clients that launch it.

    Passes messages on to the daemon of the home, which it starts if need be, and which stays when
    the client goes. Stdout carries the protocol and nothing else; remarks go to stderr. Ends when
    the client closes stdin.
    """
    if sys.stdin.isatty():
        remark("Waiting for MCP messages on stdin, as clients write them; Ctrl-C ends it")
    if standalone:
        flags = {"server.read_only": read_only, "server.toolsets": toolsets}
        await invocation.program.serve_stdio(invocation.settings(flags, serves=True))
        return
    path = _endpoint(toolsets, read_only=read_only)
    await invocation.program.bridge(invocation.find_home(), path, remark)


def _endpoint(toolsets: str | None, *, read_only: bool | None) -> str:
    """Return the address that offers what this client asked for; other clients may get more."""
    given = toolsets or os.environ.get(environment_name("server.toolsets")) or ""
    chosen = [name.strip() for name in given.split(",") if name.strip()]
    if unknown := find_unknown(chosen):
        raise InvalidInput(f"There is no toolset {unknown[0]!r}", hint=unknown[1])
    narrowed = f"/mcp/x/{','.join(chosen)}" if chosen else "/mcp"
    asked = os.environ.get(environment_name("server.read_only"), "")
    is_read_only = read_only or asked.strip().lower() in {"1", "true", "yes", "on"}
    return f"{narrowed}/readonly" if is_read_only else narrowed
