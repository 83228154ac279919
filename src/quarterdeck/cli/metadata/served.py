"""Everything that a running server shows, asked of it over MCP."""

from typing import TYPE_CHECKING, Any

import httpx2
import mcp.types as mt
from mcp import MCPError

from quarterdeck.errors import Unavailable
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool, Surface

if TYPE_CHECKING:
    from fastmcp import Client

ANSWER_SECONDS = 10
ENDPOINT = "/mcp"


async def served_surface(url: str, token: str | None) -> Surface:
    """Return all that the server at `url` lists, every page of it.

    Raises:
        Unavailable: it does not answer, or not to this token.
    """
    from fastmcp import Client

    try:
        async with Client(url, auth=token, timeout=ANSWER_SECONDS) as client:
            return await _listed(client)
    except (MCPError, httpx2.HTTPError, RuntimeError, TimeoutError, ValueError) as error:
        raise Unavailable(
            f"The server at {url!r} could not be asked what it offers",
            details={"url": url, "reason": str(error) or type(error).__name__},
            hint="see that the address ends as its clients have it, such as /mcp, and that the"
            " token is right",
        ) from error


async def _listed(client: "Client[Any]") -> Surface:
    # The client follows every page.
    return Surface(
        tools=[_tool(tool) for tool in await client.list_tools()],
        resources=[_resource(found, str(found.uri)) for found in await client.list_resources()],
        resource_templates=[
            _resource(found, found.uri_template) for found in await client.list_resource_templates()
        ],
        prompts=[_prompt(prompt) for prompt in await client.list_prompts()],
    )


def joined(one: Surface, other: Surface) -> Surface:
    """Return everything that either of two surfaces has."""
    tools = {tool.name: tool for tool in (*other.tools, *one.tools)}
    resources = {found.uri: found for found in (*other.resources, *one.resources)}
    templates = {found.uri: found for found in (*other.resource_templates, *one.resource_templates)}
    prompts = {prompt.name: prompt for prompt in (*other.prompts, *one.prompts)}
    return Surface(
        list(tools.values()),
        list(resources.values()),
        list(templates.values()),
        list(prompts.values()),
    )


def _tool(tool: mt.Tool) -> ShownTool:
    properties = tool.input_schema.get("properties", {})
    arguments = {name: part.get("description") for name, part in properties.items()}
    return ShownTool(tool.name, tool.title, tool.description, arguments)


def _resource(found: mt.Resource | mt.ResourceTemplate, uri: str) -> ShownResource:
    return ShownResource(uri, found.name, found.title, found.description)


def _prompt(prompt: mt.Prompt) -> ShownPrompt:
    arguments = {argument.name: argument.description for argument in prompt.arguments or ()}
    return ShownPrompt(prompt.name, prompt.title, prompt.description, arguments)
