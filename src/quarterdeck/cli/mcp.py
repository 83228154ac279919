"""`quarterdeck mcp`: the entry that MCP clients launch."""

import sys
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.options import Injected, ReadOnly, Toolsets
from quarterdeck.cli.render import remark


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

    Stdout carries the protocol and nothing else; the log goes to stderr. Ends when the client
    closes stdin.
    """
    if sys.stdin.isatty():
        remark("Waiting for MCP messages on stdin, as clients write them; Ctrl-C ends it")
    flags = {"server.read_only": read_only, "server.toolsets": toolsets}
    await invocation.program.serve_stdio(invocation.settings(flags, serves=True))
