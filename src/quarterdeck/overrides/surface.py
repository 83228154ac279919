"""Everything a client is shown, as plain data: made by the server, or read from a running one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ShownTool:
    """A tool as `tools/list` shows it; `wire` is its whole entry, which a model pays for."""

    name: str
    title: str | None
    description: str | None
    arguments: Mapping[str, str | None]
    annotations: Mapping[str, bool | None] = field(default_factory=dict[str, bool | None])
    toolset: str | None = None
    wire: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class ShownResource:
    """A resource, or a template of resources, by its URI."""

    uri: str
    name: str
    title: str | None
    description: str | None
    wire: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class ShownPrompt:
    """A prompt and its arguments."""

    name: str
    title: str | None
    description: str | None
    arguments: Mapping[str, str | None]
    wire: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Surface:
    """What there is to override, whatever toolset or scope is on."""

    tools: Sequence[ShownTool] = ()
    resources: Sequence[ShownResource] = ()
    resource_templates: Sequence[ShownResource] = ()
    prompts: Sequence[ShownPrompt] = ()
