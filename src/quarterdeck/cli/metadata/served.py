"""Everything that a running server shows, asked of it over MCP."""

from typing import TYPE_CHECKING, Any

import httpx2
import mcp.types as mt
from mcp import MCPError

from quarterdeck.errors import InvalidInput, Unavailable
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool, Surface

if TYPE_CHECKING:
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

ANSWER_SECONDS = 10
ENDPOINT = "/mcp"


async def served_surface(url: str, token: str | None, *, is_here: bool = False) -> Surface:
    """Return all that the server at `url` lists, every page of it.

    One that `is_here`, on this machine, is asked past the proxies of the environment.

    Raises:
        InvalidInput: it is no address of a server.
        Unavailable: it does not answer, or not to this token.
    """
    if not url.startswith(("http://", "https://")):
        # Others would be taken for a program to start.
        raise InvalidInput.field("url", f"must begin with http:// or https://, not as {url!r}")
    from fastmcp import Client

    try:
        async with Client(
            _transport(url, token, is_here=is_here), timeout=ANSWER_SECONDS
        ) as client:
            return await _listed(client)
    except (MCPError, httpx2.HTTPError, RuntimeError, TimeoutError, ValueError) as error:
        raise Unavailable(
            f"The server at {url!r} could not be asked what it offers",
            details={"url": url, "reason": str(error) or type(error).__name__},
            hint="see that the address ends as its clients have it, such as /mcp, and that the"
            " token is right",
        ) from error


def _transport(url: str, token: str | None, *, is_here: bool) -> "StreamableHttpTransport":
    from fastmcp.client.transports import StreamableHttpTransport

    def http_client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
        *,
        follow_redirects: bool = False,  # as FastMCP asks for; it could take the token elsewhere
    ) -> httpx2.AsyncClient:
        del follow_redirects
        return httpx2.AsyncClient(
            headers=headers, timeout=timeout, auth=auth, trust_env=not is_here
        )

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return StreamableHttpTransport(url, headers=headers, httpx_client_factory=http_client)


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
