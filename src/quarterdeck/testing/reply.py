"""What a tool call came back with, as an MCP client sees it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastmcp import Client
from mcp.types import CallToolResult, TextContent


@dataclass(frozen=True)
class Reply:
    """The structured content of a result, and whether it is an error."""

    body: dict[str, Any]
    is_error: bool

    @property
    def answer(self) -> dict[str, Any]:
        """Return the answer of a call that must have succeeded."""
        assert not self.is_error, f"the call failed: {self.body}"
        return self.body

    @property
    def error(self) -> dict[str, Any]:
        """Return code, message and details of a call that must have failed."""
        assert self.is_error, f"the call succeeded: {self.body}"
        return self.body["error"]


async def call_tool(
    client: Client[Any], tool: str, arguments: Mapping[str, Any] | None = None
) -> Reply:
    """Call a tool; the reply's text block must hold the same JSON as its structured content."""
    return reply_from(await client.call_tool_mcp(tool, dict(arguments or {})))


def reply_from(result: CallToolResult) -> Reply:
    """Return what a result says, after checking that it says the same thing twice."""
    [block] = result.content
    assert isinstance(block, TextContent), f"not a text block: {block}"
    body = json.loads(block.text)
    assert body == result.structured_content, "text and structured content differ"
    return Reply(body, bool(result.is_error))
