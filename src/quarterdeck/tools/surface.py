"""Everything a server has, in any words: what there is to override, and what it costs a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastmcp import FastMCP
from fastmcp.prompts import Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.tools import Tool
from pydantic import BaseModel

from quarterdeck.overrides.model import Overrides
from quarterdeck.overrides.surface import Surface
from quarterdeck.tools.resources import all_resources, listed_resource
from quarterdeck.tools.server import Services, all_tools, listed
from quarterdeck.tools.texts import load_resource_texts, load_texts
from quarterdeck.tools.wording import (
    in_words,
    prompt_in_words,
    resource_in_words,
    shown_prompt,
    shown_resource,
    shown_template,
    shown_tool,
    template_in_words,
)


@dataclass(frozen=True)
class Components:
    """What is registered, in the package's words."""

    tools: Sequence[Tool]
    resources: Sequence[Resource]
    templates: Sequence[ResourceTemplate]
    prompts: Sequence[Prompt]

    def in_words(self, overrides: Overrides) -> "Components":
        """Return the same in the user's words."""
        return Components(
            tools=[in_words(tool, overrides) for tool in self.tools],
            resources=[resource_in_words(resource, overrides) for resource in self.resources],
            templates=[template_in_words(template, overrides) for template in self.templates],
            prompts=[prompt_in_words(prompt, overrides) for prompt in self.prompts],
        )

    def surface(self) -> Surface:
        """Return it as a client is shown it."""
        return Surface(
            tools=[
                replace(shown_tool(tool), wire=_wire(tool.to_mcp_tool())) for tool in self.tools
            ],
            resources=[
                replace(shown_resource(resource), wire=_wire(resource.to_mcp_resource()))
                for resource in self.resources
            ],
            resource_templates=[
                replace(shown_template(template), wire=_wire(template.to_mcp_template()))
                for template in self.templates
            ],
            prompts=[
                replace(shown_prompt(prompt), wire=_wire(prompt.to_mcp_prompt()))
                for prompt in self.prompts
            ],
        )


async def everything(services: Services, server: FastMCP[Any]) -> Components:
    """Return all there is of ours, whatever the server offers of it, and all it has beside."""
    texts, providers = load_texts(), server.providers
    ours = [listed(spec, texts[spec.name]) for spec in all_tools(services, server)]
    names = {tool.name for tool in ours}
    added = [tool for one in providers for tool in await one.list_tools()]
    return Components(
        tools=[*ours, *(tool for tool in added if tool.name not in names)],
        resources=await _resources(services, server),
        templates=[found for one in providers for found in await one.list_resource_templates()],
        prompts=[found for one in providers for found in await one.list_prompts()],
    )


async def _resources(services: Services, server: FastMCP[Any]) -> list[Resource]:
    texts = load_resource_texts()
    ours = [listed_resource(spec, texts[spec.uri]) for spec in all_resources(services.fleet)]
    uris = {str(resource.uri) for resource in ours}
    added = [found for one in server.providers for found in await one.list_resources()]
    return [*ours, *(resource for resource in added if str(resource.uri) not in uris)]


def _wire(entry: BaseModel) -> dict[str, Any]:
    return entry.model_dump(mode="json", by_alias=True, exclude_none=True)
