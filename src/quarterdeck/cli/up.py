"""`quarterdeck up`: the server in the foreground."""

from typing import Annotated

from cyclopts import Parameter

from quarterdeck import __version__
from quarterdeck.cli.options import Injected, ReadOnly, Toolsets


async def up(
    *,
    port: Annotated[int | None, Parameter(help="Port to listen on; 0 picks a free one.")] = None,
    read_only: ReadOnly = None,
    toolsets: Toolsets = None,
    invocation: Injected,
) -> None:
    """Serve MCP and a status page over HTTP.

    Runs in the foreground, on this machine's loopback address, until Ctrl-C.
    """
    flags = {"server.port": port, "server.read_only": read_only, "server.toolsets": toolsets}
    await invocation.program.serve_http(invocation.settings(flags, serves=True), _announce)


def _announce(address: str) -> None:
    print(f"Quarterdeck {__version__} is running")
    print(f"  Dashboard  {address}/")
    print(f"  MCP        {address}/mcp")
    print("Stop with Ctrl-C", flush=True)
