"""`quarterdeck up`: the daemon, in the foreground or on its own."""

import logging
import os
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from quarterdeck import __version__
from quarterdeck.cli.options import Injected, ReadOnly, Toolsets
from quarterdeck.cli.render import remark

if TYPE_CHECKING:
    from quarterdeck.settings import Settings

logger = logging.getLogger(__name__)


async def up(
    *,
    port: Annotated[int | None, Parameter(help="Port to listen on; 0 picks a free one.")] = None,
    detach: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Return once it answers.")
    ] = False,
    read_only: ReadOnly = None,
    toolsets: Toolsets = None,
    in_background: Annotated[bool, Parameter(negative=(), show=False)] = False,
    invocation: Injected,
) -> int:
    """Start the daemon: MCP and a status page over HTTP.

    Runs in the foreground until Ctrl-C, or with --detach on its own until 'quarterdeck down'.
    MCP clients that launch 'quarterdeck mcp' start it by themselves.
    """
    from quarterdeck.cli.logs import logging_to_file
    from quarterdeck.daemon.environment import read_environment_file
    from quarterdeck.homes import prepare_home

    flags = {"server.port": port, "server.read_only": read_only, "server.toolsets": toolsets}
    settings = invocation.settings(flags, serves=True)
    read_environment_file(settings.home)
    if detach:
        _start_detached(settings)
        return 0
    with logging_to_file(prepare_home(settings), in_background=in_background):
        announce = _log_address if in_background else _announce
        return await invocation.program.serve_http(settings, announce)


def _start_detached(settings: "Settings") -> None:
    from quarterdeck.daemon.address import find
    from quarterdeck.daemon.launch import ensure_daemon

    if found := find(settings.home):
        remark(f"It is running already, as version {found.version}")
        _print_addresses(found.url)
        return
    started = ensure_daemon(settings.home, os.environ, say=remark, flags=settings.flags())
    print(f"Quarterdeck {started.version} is running")
    _print_addresses(started.url)
    print("Stop with 'quarterdeck down'")


def _announce(address: str) -> None:
    print(f"Quarterdeck {__version__} is running")
    _print_addresses(address)
    print("Stop with Ctrl-C", flush=True)


def _log_address(address: str) -> None:
    logger.info("Quarterdeck %s is running at %s", __version__, address)


def _print_addresses(address: str) -> None:
    print(f"  Dashboard  {address}/")
    print(f"  MCP        {address}/mcp")
