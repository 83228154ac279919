"""JSON Schemas as models should see them: limits kept, noise taken out."""

from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]

# Pydantic makes titles up from names and descriptions from docstrings; both are for maintainers.
_NOISE = {"title", "description"}
_NAMED = {"properties", "$defs"}
_LISTED = {"anyOf", "allOf", "oneOf", "prefixItems"}


def arguments_schema(arguments: type[BaseModel]) -> Schema:
    """Return the schema of a tool's arguments.

    An argument that may be left out is shown with its plain type: its `null` alternative
    only says the same again and costs tokens.
    """
    schema = without_noise(arguments.model_json_schema())
    properties: dict[str, Schema] = schema.setdefault("properties", {})
    schema["properties"] = {name: _plain(part) for name, part in properties.items()}
    return schema


def without_noise(schema: Schema) -> Schema:
    """Return a copy with what the contract says and nothing more."""
    return {key: _cleaned(key, value) for key, value in schema.items() if key not in _NOISE}


def _cleaned(key: str, value: object) -> object:
    if key in _NAMED:
        named = cast("dict[str, Schema]", value)
        return {name: without_noise(part) for name, part in named.items()}
    if key in _LISTED:
        return [without_noise(part) for part in cast("list[Schema]", value)]
    return without_noise(cast("Schema", value)) if isinstance(value, dict) else value


def _plain(part: Schema) -> Schema:
    kinds = [kind for kind in part.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return part
    rest = {key: value for key, value in part.items() if key != "anyOf"}
    if rest.get("default", ...) is None:
        del rest["default"]
    return kinds[0] | rest
