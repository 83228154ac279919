"""`quarterdeck` with resources, templates and prompts of the tests' own, and words for them.

Run as a script, it is the command line with those in every server that it starts.
"""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

from fastmcp import Client, FastMCP
from pydantic import Field

from quarterdeck import serve
from quarterdeck.__main__ import main

WORDS = """\
version: 1
tools:
  memory_store:
    title: Put away
    description: Put something away.
    arguments:
      key:
        description: Its label
    annotations:
      open_world: true
  agent-*:
    title: An agent
resources:
  quarterdeck://fleet:
    name: harbour
    description: All ships.
    use_when: Before you send one.
    example: Read it, then ask.
resource_templates:
  automatosx://fleet/{ship}:
    description: One ship.
    mode: append
prompts:
  muster:
    title: Roll call
    description: Call everybody.
    arguments:
      loud:
        description: Whether to shout
"""
# What all lists show under these words, in the order of `shown`.
IN_WORDS = [
    ("Put away", "Put something away.", "Its label", True),
    ("An agent", "Ask the scout."),
    ("harbour", "All ships.\n\nWhen to use: Before you send one.\nExample: Read it, then ask."),
    ("ship", "A ship by name.\n\nOne ship."),
    ("Roll call", "Call everybody.", "Whether to shout"),
]


def add_more(server: FastMCP[Any]) -> None:
    """Add one of each kind that a server can list."""

    @server.tool(name="agent-scout", description="Ask the scout.")
    def _scout(question: str) -> str:
        return question

    @server.resource("quarterdeck://fleet", name="fleet", description="Every ship.")
    def _fleet() -> str:
        return "all"

    @server.resource("quarterdeck://fleet/{ship}", name="ship", description="A ship by name.")
    def _ship(ship: str) -> str:
        return ship

    @server.prompt(description="Call all hands.")
    def muster(loud: Annotated[str, Field(description="How loud")] = "no") -> str:
        return loud


async def shown(client: Client[Any]) -> Sequence[tuple[object, ...]]:
    """Return what a client is listed of each kind; `mcp_list_resources` must say the same."""
    tools = {tool.name: tool for tool in await client.list_tools()}
    store, scout = tools["memory_store"], tools["agent-scout"]
    listed = {str(found.uri): found for found in await client.list_resources()}
    resource = listed["quarterdeck://fleet"]
    (template,) = await client.list_resource_templates()
    (prompt,) = await client.list_prompts()
    listing = (await client.call_tool("mcp_list_resources")).structured_content or {}
    (row,) = [found for found in listing["resources"] if found["uri"] == "quarterdeck://fleet"]
    (template_row,) = listing["resource_templates"]
    assert (row["name"], row["description"]) == (resource.name, resource.description)
    assert template_row["description"] == template.description
    key = store.input_schema["properties"]["key"]
    open_world = store.annotations and store.annotations.open_world_hint
    (argument,) = prompt.arguments or []
    return [
        (store.title, store.description, key.get("description"), open_world),
        (scout.title, scout.description),
        (resource.name, resource.description),
        (template.name, template.description),
        (prompt.title, prompt.description, argument.description),
    ]


plainly = serve.build_server


def build_with_more(*arguments: Any, **named: Any) -> FastMCP[Any]:  # noqa: ANN401 - passed on
    server = plainly(*arguments, **named)
    add_more(server)
    return server


if __name__ == "__main__":
    serve.build_server = build_with_more
    sys.argv[0] = "quarterdeck"
    main()
