"""Everything that can be said of an item, by dotted names: `arguments.key.description`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

from pydantic import BaseModel

from quarterdeck.errors import InvalidInput, closest_name
from quarterdeck.overrides.model import (
    AnnotationsOverride,
    Overrides,
    PromptOverride,
    ResourceOverride,
    ToolOverride,
)
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool, Surface

Kind = Literal["tool", "resource", "template", "prompt"]
Item = ShownTool | ShownResource | ShownPrompt
Text = str | bool | None

SECTIONS: Mapping[Kind, str] = {
    "tool": "tools",
    "resource": "resources",
    "template": "resource_templates",
    "prompt": "prompts",
}
MODELS: Mapping[Kind, type[BaseModel]] = {
    "tool": ToolOverride,
    "resource": ResourceOverride,
    "template": ResourceOverride,
    "prompt": PromptOverride,
}
# Fields that have fields of their own.
PARTS = ("arguments", "annotations")
BOOLEANS = {"true": True, "false": False}


class Said(NamedTuple):
    """One thing that the file says."""

    kind: Kind
    name: str
    field: str
    value: str | bool


def said(overrides: Overrides) -> Iterator[Said]:
    """Return everything that the file says of something, in its order."""
    for kind, section in SECTIONS.items():
        entries = cast("Mapping[str, BaseModel]", getattr(overrides, section))
        for name, entry in entries.items():
            for field, value in _flat(entry.model_dump(exclude_unset=True, exclude_none=True)):
                yield Said(kind, name, field, value)


def shown_items(surface: Surface) -> Iterator[tuple[Kind, str, Item]]:
    """Return everything that can be overridden, by kind and name."""
    for tool in surface.tools:
        yield "tool", tool.name, tool
    for resource in surface.resources:
        yield "resource", resource.uri, resource
    for template in surface.resource_templates:
        yield "template", template.uri, template
    for prompt in surface.prompts:
        yield "prompt", prompt.name, prompt


def texts_of(item: Item) -> dict[str, Text]:
    """Return what a client is shown of an item, by field."""
    texts: dict[str, Text] = {"title": item.title, "description": item.description}
    if isinstance(item, ShownResource):
        return {"name": item.name, **texts}
    texts |= {f"arguments.{name}.description": text for name, text in item.arguments.items()}
    if isinstance(item, ShownTool):
        texts |= {f"annotations.{name}": hint for name, hint in item.annotations.items()}
    return texts


def field_path(kind: Kind, field: str, *, or_part: bool = False) -> Sequence[str]:
    """Return the names below an item under which a field stands; with `or_part`, also a part.

    Raises:
        InvalidInput: items of this kind have no such field.
    """
    known = MODELS[kind].model_fields
    match field.split("."):
        case [name] if name in known and (or_part or name not in PARTS):
            return (name,)
        case ["arguments", *names, "description"] if "arguments" in known and names:
            return ("arguments", ".".join(names), "description")
        case ["arguments", *names] if "arguments" in known and names and or_part:
            return ("arguments", ".".join(names))
        case ["annotations", hint] if "annotations" in known and hint in _HINTS:
            return ("annotations", hint)
        case _:
            raise _unknown_field(kind, field)


def field_value(path: Sequence[str], text: str) -> str | bool:
    """Return a value as the field takes it.

    Raises:
        InvalidInput: it has to be true or false, or cannot be sent to a client.
    """
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidInput.field(".".join(path), "holds a character that cannot be sent")
    if path[0] not in {"annotations", "strict"}:
        return text
    if text.lower() not in BOOLEANS:
        raise InvalidInput.field(".".join(path), "must be true or false")
    return BOOLEANS[text.lower()]


_HINTS = tuple(AnnotationsOverride.model_fields)


def _unknown_field(kind: Kind, field: str) -> InvalidInput:
    fields = MODELS[kind].model_fields
    known = [name for name in fields if name not in PARTS]
    if "arguments" in fields:
        known.append("arguments.NAME.description")
    if "annotations" in fields:
        known += [f"annotations.{hint}" for hint in _HINTS]
    closest = closest_name(field, known)
    return InvalidInput(
        f"A {kind} has no field {field!r}",
        details={"field": field, "known": known},
        hint=f"did you mean {closest!r}?" if closest else f"known are {', '.join(known)}",
    )


def _flat(tree: Mapping[str, Any], lead: str = "") -> Iterator[tuple[str, str | bool]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(cast("Mapping[str, Any]", value), f"{lead}{name}.")
        else:
            yield lead + name, value
