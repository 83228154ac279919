"""What a model reads: titles and descriptions, one YAML file a noun in `texts/`."""

from collections.abc import Iterator, Mapping
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict


class ArgumentText(BaseModel):
    """What a model reads about one argument."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str


class ToolText(BaseModel):
    """What a model reads about a tool."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    description: str
    arguments: Mapping[str, ArgumentText] = {}


class ResourceText(BaseModel):
    """What a model reads about a resource."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    description: str


class Texts(BaseModel):
    """One file of texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: Mapping[str, ToolText]
    resources: Mapping[str, ResourceText] = {}


def load_texts() -> dict[str, ToolText]:
    """Return the texts of all tools of the package."""
    return {name: text for file in _files() for name, text in file.tools.items()}


def load_resource_texts() -> dict[str, ResourceText]:
    """Return the texts of all resources of the package, by URI."""
    return {uri: text for file in _files() for uri, text in file.resources.items()}


def _files() -> Iterator[Texts]:
    folder = files("quarterdeck.tools") / "texts"
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml"):
            yield Texts.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
