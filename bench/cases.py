"""The calls that are measured, with the arguments of the n-th one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quarterdeck.domain.json import JsonObject

STORED_KEY = "project/deploy/staging-notes"
VALUE: JsonObject = {
    "text": "Deploys to staging wait for the nightly migration; run the smoke test afterwards",
    "owner": "platform",
    "checked": True,
}


@dataclass(frozen=True)
class Case:
    """One kind of call."""

    name: str
    tool: str
    arguments: Callable[[int], dict[str, Any]]
    about: str


CASES = (
    Case(
        "memory_retrieve, absent",
        "memory_retrieve",
        lambda number: {"key": f"absent/{number}"},
        "one look-up that finds nothing, and its trace",
    ),
    Case(
        "memory_retrieve, present",
        "memory_retrieve",
        lambda _: {"key": STORED_KEY},
        "one look-up that returns a value of 125 bytes, and its trace",
    ),
    Case(
        "memory_store, new key",
        "memory_store",
        lambda number: {"key": f"project/deploy/note-{number:06d}", "value": VALUE},
        "one entry written, indexed for search and committed together with its trace",
    ),
    Case(
        "mcp_list_resources",
        "mcp_list_resources",
        lambda _: {},
        "FastMCP asked for what it lists, and the trace; no state of ours",
    ),
)


def is_stored(key: str) -> bool:
    return key == STORED_KEY
