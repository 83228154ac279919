"""A program that has resources, templates and prompts beside the tools."""

from typing import TYPE_CHECKING

from quarterdeck.__main__ import Installed
from quarterdeck.overrides.applying import (
    worded_prompt,
    worded_resource,
    worded_template,
    worded_tool,
)
from quarterdeck.overrides.reading import read_metadata
from quarterdeck.overrides.surface import ShownPrompt, ShownResource, ShownTool, Surface

if TYPE_CHECKING:
    from quarterdeck.settings import Settings

HINTS = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
PACKAGE = Surface(
    tools=[
        ShownTool(
            "memory_store",
            "Store a memory",
            "Keep a JSON object under a key.\n\nChanges the shared memory.",
            {"key": "Name of the entry.", "value": "What to keep."},
            HINTS | {"read_only": False},
            toolset="memory",
            wire={"name": "memory_store", "description": "d" * 400},
        ),
        ShownTool("trace_get", "Get a trace", "Read one trace.", {"traceId": None}, HINTS, "trace"),
    ],
    resources=[ShownResource("quarterdeck://fleet", "fleet", None, "Who is there.")],
    resource_templates=[ShownResource("quarterdeck://agents/{name}", "agent", None, None)],
    prompts=[ShownPrompt("review", "Review", "Ask for a review.", {"branch": "What to review."})],
)


class Furnished(Installed):
    async def offered(self, settings: "Settings", *, effective: bool) -> Surface:
        if not effective:
            return PACKAGE
        words = read_metadata(settings.metadata_path).overrides
        return Surface(
            [worded_tool(tool, words) for tool in PACKAGE.tools],
            [worded_resource(found, words) for found in PACKAGE.resources],
            [worded_template(found, words) for found in PACKAGE.resource_templates],
            [worded_prompt(prompt, words) for prompt in PACKAGE.prompts],
        )
