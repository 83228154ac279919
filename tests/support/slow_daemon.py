"""`quarterdeck` as it is, with one more tool: one that waits until the test lets it go.

Run as a program, with any Python that has Quarterdeck installed.
"""

import asyncio
from typing import Any

from fastmcp import FastMCP

from quarterdeck import __main__, serve
from quarterdeck.tools.server import Offer, Services, build_server


async def wait(port: int) -> str:
    """Tell whoever listens on `port` that the call runs, and wait for a line from there."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return (await reader.readline()).decode().strip()
    finally:
        writer.close()


def build_slow_server(services: Services, offer: Offer) -> FastMCP[Any]:
    server = build_server(services, offer)
    server.tool(wait)
    return server


if __name__ == "__main__":
    serve.build_server = build_slow_server
    __main__.main()
