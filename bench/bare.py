"""The peer of a start: the least FastMCP server that serves stdio."""

from fastmcp import FastMCP

server = FastMCP("bare")


@server.tool
async def noop() -> bool:
    return True


if __name__ == "__main__":
    server.run("stdio", show_banner=False)
