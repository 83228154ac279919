"""The directive that uses an MCP server which the client gave."""

import json

from quarterdeck.testing.scripted_agent.directives import arguments
from quarterdeck.testing.scripted_agent.tool_call import ToolCall, text_content
from quarterdeck.testing.scripted_agent.turn import Turn


def call_tool(turn: Turn, argument: str) -> None:
    """Call a tool of the first HTTP server of the session and say the answer."""
    # Loads the HTTP client, which would double the memory of an agent that needs none.
    from quarterdeck.testing.scripted_agent.mcp import McpFailed, McpServer

    tool, _, text = argument.partition(" ")
    server = McpServer.first_of(turn.session.mcp_servers)
    if server is None:
        raise arguments.BadArguments("the session has no MCP server over HTTP")
    call = ToolCall(turn, tool, "other", rawInput=(tool_arguments := _object(text or "{}")))
    call.begin()
    try:
        answer = turn.in_background(lambda: server.call(tool, tool_arguments))
    except McpFailed as error:
        call.failed(content=[text_content(str(error))])
        turn.say(f"{tool} failed: {error}")
        return
    call.done(content=[text_content(answer)])
    turn.say(answer)


def _object(text: str) -> dict[str, object]:
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError) as error:
        raise arguments.BadArguments("the arguments must be a JSON object") from error
