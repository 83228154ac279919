"""`metadata.yaml` as data: what can be said anew, and of what.

A missing field keeps what the package says, an empty text clears it.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Mode = Literal["replace", "append"]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


class ArgumentOverride(Part):
    """Other words for one argument of a tool or a prompt."""

    description: str | None = None


class AnnotationsOverride(Part):
    """Other hints to a client about what a tool does."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ToolOverride(Part):
    """Other words for a tool; with `append`, its description is added to ours."""

    title: str | None = None
    description: str | None = None
    mode: Mode = "replace"
    arguments: Mapping[str, ArgumentOverride] = {}
    annotations: AnnotationsOverride = AnnotationsOverride()


class ResourceOverride(Part):
    """Other words for a resource or a template of resources."""

    name: Annotated[str, Field(min_length=1)] | None = None  # which the protocol asks for
    title: str | None = None
    description: str | None = None
    use_when: str | None = None
    example: str | None = None
    mode: Mode = "replace"


class PromptOverride(Part):
    """Other words for a prompt."""

    title: str | None = None
    description: str | None = None
    mode: Mode = "replace"
    arguments: Mapping[str, ArgumentOverride] = {}


class Overrides(Part):
    """The whole file. Keys of `tools` may be patterns such as `agent-*`."""

    version: Annotated[int, Field(ge=1, le=1)] = 1  # not a literal, which true would do for
    strict: bool = True
    tools: Mapping[str, ToolOverride] = {}
    resources: Mapping[str, ResourceOverride] = {}
    resource_templates: Mapping[str, ResourceOverride] = {}
    prompts: Mapping[str, PromptOverride] = {}
