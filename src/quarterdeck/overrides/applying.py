"""What a client is shown in the end: the package's words, and over them the user's."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from quarterdeck.overrides.model import (
    AnnotationsOverride,
    ArgumentOverride,
    Mode,
    Overrides,
    PromptOverride,
    ResourceOverride,
    ToolOverride,
)
from quarterdeck.overrides.names import ALIAS, OURS, is_pattern, matches
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool


class _Described(Protocol):
    @property
    def description(self) -> str | None: ...
    @property
    def mode(self) -> Mode: ...


def worded_tool(tool: ShownTool, overrides: Overrides) -> ShownTool:
    """Return a tool in the user's words; what its name says wins over what a pattern says."""
    for pattern, override in overrides.tools.items():
        if is_pattern(pattern) and matches(tool.name, pattern):
            tool = _reworded(tool, override)
    exact = overrides.tools.get(tool.name)
    return tool if exact is None else _reworded(tool, exact)


def worded_resource(resource: ShownResource, overrides: Overrides) -> ShownResource:
    """Return a resource in the user's words."""
    return _resource(resource, _by_uri(overrides.resources, resource.uri))


def worded_template(template: ShownResource, overrides: Overrides) -> ShownResource:
    """Return a template in the user's words."""
    return _resource(template, _by_uri(overrides.resource_templates, template.uri))


def worded_prompt(prompt: ShownPrompt, overrides: Overrides) -> ShownPrompt:
    """Return a prompt in the user's words."""
    override: PromptOverride | None = overrides.prompts.get(prompt.name)
    if override is None:
        return prompt
    return replace(
        prompt,
        title=_said(override.title, prompt.title),
        description=_description(override, prompt.description),
        arguments=_arguments(override.arguments, prompt.arguments),
        wire={},
    )


def resource_text(
    description: str | None, use_when: str | None = None, example: str | None = None
) -> str | None:
    """Return the one text of a resource; a part without text is left out."""
    advice = "\n".join(
        f"{lead}: {text}"
        for lead, text in (("When to use", use_when), ("Example", example))
        if text
    )
    return "\n\n".join(part for part in (description, advice) if part) or None


def _reworded(tool: ShownTool, override: ToolOverride) -> ShownTool:
    return replace(
        tool,
        title=_said(override.title, tool.title),
        description=_description(override, tool.description),
        arguments=_arguments(override.arguments, tool.arguments),
        annotations=_annotations(override.annotations, tool.annotations),
        wire={},  # which shows the words from before
    )


def _resource(resource: ShownResource, override: ResourceOverride | None) -> ShownResource:
    if override is None:
        return resource
    description = _description(override, resource.description)
    return replace(
        resource,
        name=override.name or resource.name,
        title=_said(override.title, resource.title),
        description=resource_text(description, override.use_when, override.example),
        wire={},
    )


def _by_uri(given: Mapping[str, ResourceOverride], uri: str) -> ResourceOverride | None:
    alias = ALIAS + uri.removeprefix(OURS) if uri.startswith(OURS) else uri
    return given.get(uri, given.get(alias))


def _said(given: str | None, ours: str | None) -> str | None:
    """Return ours when nothing is given; an empty text clears."""
    return ours if given is None else given or None


def _description(override: _Described, ours: str | None) -> str | None:
    if override.mode == "append":
        return "\n\n".join(text for text in (ours, override.description) if text) or None
    return _said(override.description, ours)


def _arguments(
    given: Mapping[str, ArgumentOverride], ours: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    unsaid = ArgumentOverride()
    return {name: _said(given.get(name, unsaid).description, text) for name, text in ours.items()}


def _annotations(
    given: AnnotationsOverride, ours: Mapping[str, bool | None]
) -> Mapping[str, bool | None]:
    return {**ours, **given.model_dump(exclude_none=True)}
