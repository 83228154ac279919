"""Tools about the server itself."""

from collections.abc import Awaitable, Callable

from quarterdeck.domain.answer import SnakeAnswer
from quarterdeck.domain.effect import Effect
from quarterdeck.tools.registry import Toolset

WORKFLOW = "Read resources for context first, then use tools to act"


class ResourceRow(SnakeAnswer):
    """One resource."""

    uri: str
    name: str
    description: str | None = None


class ResourceTemplateRow(SnakeAnswer):
    """One family of resources."""

    uri_template: str
    name: str
    description: str | None = None


class Guidance(SnakeAnswer):
    """How to go about it."""

    workflow: str


class ListResourcesResponse(SnakeAnswer):
    """Everything the server lists, sorted by URI."""

    total_resources: int
    resources: list[ResourceRow]
    resource_templates: list[ResourceTemplateRow]
    guidance: Guidance


Listing = Callable[[], Awaitable[tuple[list[ResourceRow], list[ResourceTemplateRow]]]]


def meta_tools(listing: Listing) -> Toolset:
    """Return the tools about the server; `listing` asks its live registry."""
    tools = Toolset("meta")

    @tools.tool(Effect.READ)
    async def mcp_list_resources() -> ListResourcesResponse:
        resources, templates = await listing()
        return ListResourcesResponse(
            total_resources=len(resources),
            resources=resources,
            resource_templates=templates,
            guidance=Guidance(workflow=WORKFLOW),
        )

    return tools
