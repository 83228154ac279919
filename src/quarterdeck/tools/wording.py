"""The user's words over ours: on everything a server lists, whoever registered it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fastmcp.prompts import Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.server.transforms import GetPromptNext, Transform
from fastmcp.tools import Tool
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import VersionSpec
from mcp.types import ToolAnnotations

from quarterdeck.overrides.applying import (
    worded_prompt,
    worded_resource,
    worded_template,
    worded_tool,
)
from quarterdeck.overrides.model import Overrides
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool
from quarterdeck.toolsets import TOOLSETS

C = TypeVar("C", bound=FastMCPComponent)
HINTS = ("read_only", "destructive", "idempotent", "open_world")


class Wording(Transform):
    """Shows everything in the words of `overrides`; each component is worded once.

    What is registered stays as it is, so that other words can be laid over it at any time.
    """

    def __init__(self) -> None:
        """Start with the package's own words."""
        self._overrides = Overrides()
        self._worded: dict[str, tuple[FastMCPComponent, Any]] = {}

    def use(self, overrides: Overrides) -> None:
        """Show everything in other words, from the next request on."""
        self._overrides, self._worded = overrides, {}

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Word what is listed."""
        return [self._once(tool, in_words) for tool in tools]

    async def list_resources(self, resources: Sequence[Resource]) -> Sequence[Resource]:
        """Word what is listed."""
        return [self._once(resource, resource_in_words) for resource in resources]

    async def list_resource_templates(
        self, templates: Sequence[ResourceTemplate]
    ) -> Sequence[ResourceTemplate]:
        """Word what is listed."""
        return [self._once(template, template_in_words) for template in templates]

    async def list_prompts(self, prompts: Sequence[Prompt]) -> Sequence[Prompt]:
        """Word what is listed."""
        return [self._once(prompt, prompt_in_words) for prompt in prompts]

    async def get_prompt(
        self, name: str, call_next: GetPromptNext, *, version: VersionSpec | None = None
    ) -> Prompt | None:
        """Word a prompt that is asked for, because its description is part of the answer."""
        prompt = await call_next(name, version=version)
        return prompt and self._once(prompt, prompt_in_words)

    def _once(self, component: C, reword: Callable[[C, Overrides], C]) -> C:
        found = self._worded.get(component.key)
        if found is None or found[0] is not component:
            found = component, reword(component, self._overrides)
            self._worded[component.key] = found
        return found[1]


def shown_tool(tool: Tool) -> ShownTool:
    """Return what a client is shown of a tool."""
    return ShownTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        arguments={name: part.get("description") for name, part in _properties(tool).items()},
        annotations={hint: getattr(tool.annotations, f"{hint}_hint", None) for hint in HINTS},
        toolset=next((name for name in TOOLSETS if name in tool.tags), None),
    )


def shown_resource(resource: Resource) -> ShownResource:
    """Return what a client is shown of a resource."""
    return ShownResource(str(resource.uri), resource.name, resource.title, resource.description)


def shown_template(template: ResourceTemplate) -> ShownResource:
    """Return what a client is shown of a template."""
    return ShownResource(template.uri_template, template.name, template.title, template.description)


def shown_prompt(prompt: Prompt) -> ShownPrompt:
    """Return what a client is shown of a prompt."""
    arguments = {part.name: part.description for part in prompt.arguments or []}
    return ShownPrompt(prompt.name, prompt.title, prompt.description, arguments)


def in_words(tool: Tool, overrides: Overrides) -> Tool:
    """Return a tool in the user's words; what it takes and does stays."""
    ours = shown_tool(tool)
    theirs = worded_tool(ours, overrides)
    if theirs == ours:
        return tool
    words = {
        "title": theirs.title,
        "description": theirs.description,
        "parameters": _described(tool, theirs.arguments),
        "annotations": _annotated(tool.annotations, theirs),
    }
    return tool.model_copy(update=words)


def resource_in_words(resource: Resource, overrides: Overrides) -> Resource:
    """Return a resource in the user's words."""
    return resource.model_copy(update=_named(worded_resource(shown_resource(resource), overrides)))


def template_in_words(template: ResourceTemplate, overrides: Overrides) -> ResourceTemplate:
    """Return a template in the user's words."""
    return template.model_copy(update=_named(worded_template(shown_template(template), overrides)))


def prompt_in_words(prompt: Prompt, overrides: Overrides) -> Prompt:
    """Return a prompt in the user's words."""
    theirs = worded_prompt(shown_prompt(prompt), overrides)
    arguments = [
        part.model_copy(update={"description": theirs.arguments[part.name]})
        for part in prompt.arguments or []
    ]
    words = {"title": theirs.title, "description": theirs.description, "arguments": arguments}
    return prompt.model_copy(update=words)


def _named(shown: ShownResource) -> dict[str, str | None]:
    return {"name": shown.name, "title": shown.title, "description": shown.description}


def _properties(tool: Tool) -> dict[str, dict[str, Any]]:
    return tool.parameters.get("properties", {})


def _described(tool: Tool, texts: Mapping[str, str | None]) -> dict[str, Any]:
    properties = {
        name: _with_description(part, texts[name]) for name, part in _properties(tool).items()
    }
    return {**tool.parameters, "properties": properties} if properties else tool.parameters


def _with_description(part: Mapping[str, Any], text: str | None) -> dict[str, Any]:
    rest = {key: value for key, value in part.items() if key != "description"}
    return {**rest, "description": text} if text else rest


def _annotated(ours: ToolAnnotations | None, theirs: ShownTool) -> ToolAnnotations:
    hints = {f"{name}_hint": value for name, value in theirs.annotations.items()}
    return (ours or ToolAnnotations()).model_copy(update={"title": theirs.title, **hints})
