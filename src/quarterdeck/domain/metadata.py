"""Metadata of a workspace: fields that its Taskfile computes."""

from dataclasses import dataclass

from quarterdeck.domain.json import JsonValue


@dataclass(frozen=True, slots=True)
class MetadataField:
    """One field; one that failed has no value and says why."""

    value: JsonValue
    error: str | None
    description: str
    include_in_list: bool
