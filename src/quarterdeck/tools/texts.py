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


class Texts(BaseModel):
    """One file of texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: Mapping[str, ToolText]


def load_texts() -> dict[str, ToolText]:
    """Return the texts of all tools of the package."""
    texts: dict[str, ToolText] = {}
    for document in _documents():
        texts |= Texts.model_validate(yaml.safe_load(document)).tools
    return texts


def _documents() -> Iterator[str]:
    folder = files("quarterdeck.tools") / "texts"
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml"):
            yield file.read_text(encoding="utf-8")
