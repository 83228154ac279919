"""The MCP server: which tools are offered, under which texts, with which hints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool
from mcp.types import ToolAnnotations

from quarterdeck import __version__
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.redaction import Redactor
from quarterdeck.services.calls import Calls
from quarterdeck.services.fleet_services import FleetServices
from quarterdeck.services.memory import MemoryService
from quarterdeck.services.traces import TraceService
from quarterdeck.tools.agents import agent_tools
from quarterdeck.tools.calling import CallMiddleware
from quarterdeck.tools.memory import memory_tools
from quarterdeck.tools.meta import ResourceRow, ResourceTemplateRow, meta_tools
from quarterdeck.tools.projects import project_tools
from quarterdeck.tools.questions import question_tools
from quarterdeck.tools.registry import ToolSpec
from quarterdeck.tools.resources import ResourceSpec, all_resources, listed_resource
from quarterdeck.tools.tasks import task_tools
from quarterdeck.tools.texts import ToolText, load_resource_texts, load_texts
from quarterdeck.tools.traces import trace_tools

INSTRUCTIONS = (
    "Quarterdeck runs a fleet of coding agents for you: create_agent gives one a task in a"
    " workspace of its own, wait_for_agent tells when it is done or asks something, show_agent_log"
    " and show_agent_diff show what it did. It also keeps a durable memory that all your sessions"
    " and agents share, and a trace of every call. Search memory before you start on something"
    " that may have been worked on before, and store what the next session should know."
)


@dataclass(frozen=True)
class Services:
    """What the tools are built on."""

    calls: Calls
    fleet: FleetServices
    memory: MemoryService
    traces: TraceService
    redactor: Redactor


@dataclass(frozen=True)
class Offer:
    """Which tools a server offers; read-only always wins."""

    toolsets: Sequence[str] = ("all",)
    read_only: bool = False

    def includes(self, spec: ToolSpec | ResourceSpec) -> bool:
        """Return whether a tool or a resource is part of the offer."""
        if self.read_only and isinstance(spec, ToolSpec) and spec.effect is not Effect.READ:
            return False
        return "all" in self.toolsets or spec.toolset in self.toolsets


def build_server(services: Services, offer: Offer | None = None) -> FastMCP[Any]:
    """Return a server that serves both protocol eras on any transport."""
    offer, offered = offer or Offer(), dict[str, ToolSpec]()
    resources = {spec.uri: spec for spec in all_resources(services.fleet) if offer.includes(spec)}
    server: FastMCP[Any] = FastMCP(
        "quarterdeck",
        version=__version__,
        instructions=INSTRUCTIONS,
        middleware=[CallMiddleware(services.calls, services.redactor, offered, resources)],
        on_duplicate="error",
        mask_error_details=True,
    )
    texts = load_texts()
    for spec in all_tools(services, server):
        if offer.includes(spec):
            offered[spec.name] = spec
            server.add_tool(listed(spec, texts[spec.name]))
    resource_texts = load_resource_texts()
    for resource in resources.values():
        server.add_resource(listed_resource(resource, resource_texts[resource.uri]))

    def schema_of(name: str) -> Mapping[str, Any] | None:
        return offered[name].input_schema if name in offered else None

    # Asked on each call over HTTP. Without an answer the SDK lists all tools to find the schema,
    # which takes longer than most calls.
    sdk_server = server._mcp_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - FastMCP has no other way to it
    sdk_server.get_tool_input_schema = schema_of
    return server


def all_tools(services: Services, server: FastMCP[Any]) -> list[ToolSpec]:
    """Return every tool there is, in the order they are listed."""

    async def listing() -> tuple[list[ResourceRow], list[ResourceTemplateRow]]:
        return await _resources(server)

    fleet = services.fleet
    toolsets = (
        project_tools(fleet.projects),
        agent_tools(fleet.agents, fleet.waiting, fleet.diffs),
        task_tools(fleet.tasks, fleet.logs),
        question_tools(fleet.questions),
        memory_tools(services.memory),
        trace_tools(services.traces),
        meta_tools(listing),
    )
    return [spec for toolset in toolsets for spec in toolset.tools]


def listed(spec: ToolSpec, text: ToolText) -> Tool:
    """Return a tool as FastMCP lists it; `CallMiddleware` runs it."""
    return Tool(
        name=spec.name,
        title=text.title,
        description=text.description,
        parameters=_described(spec.input_schema, text),
        output_schema=spec.output_schema,
        annotations=ToolAnnotations(
            title=text.title,
            read_only_hint=spec.effect is Effect.READ,
            destructive_hint=spec.effect is Effect.DESTROY,
            idempotent_hint=spec.is_idempotent,
            open_world_hint=False,
        ),
        tags={spec.toolset},
    )


def _described(schema: Mapping[str, Any], text: ToolText) -> dict[str, Any]:
    properties = {
        name: {**part, "description": text.arguments[name].description}
        for name, part in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties}


async def _resources(
    server: FastMCP[Any],
) -> tuple[list[ResourceRow], list[ResourceTemplateRow]]:
    """Return what the server lists for this caller, from its live registry."""
    resources = [
        ResourceRow(uri=str(found.uri), name=found.name, description=found.description)
        for found in await server.list_resources()
    ]
    templates = [
        ResourceTemplateRow(
            uri_template=found.uri_template, name=found.name, description=found.description
        )
        for found in await server.list_resource_templates(run_middleware=False)
    ]
    return (
        sorted(resources, key=lambda row: row.uri),
        sorted(templates, key=lambda row: row.uri_template),
    )
