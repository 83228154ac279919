"""Resources: what can be read at an address, without a tool."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastmcp.resources import Resource

from quarterdeck.domain.access import Scope
from quarterdeck.domain.answer import Answer
from quarterdeck.services.fleet_services import FleetServices
from quarterdeck.tools.texts import ResourceText

QUESTIONS = "quarterdeck://questions"
# Those whose changes a client can be told of, and what it needs for that.
WATCHED = {QUESTIONS: Scope.APPROVE}


@dataclass(frozen=True)
class ResourceSpec:
    """One resource; what a model reads about it is in `texts/`."""

    uri: str
    toolset: str
    scope: Scope
    read: Callable[[], Awaitable[Answer]]


def all_resources(fleet: FleetServices) -> list[ResourceSpec]:
    """Return every resource there is."""
    return [ResourceSpec(QUESTIONS, "fleet", Scope.APPROVE, fleet.questions.list)]


def listed_resource(spec: ResourceSpec, text: ResourceText) -> Resource:
    """Return a resource as FastMCP lists and reads it: the JSON that a tool would answer."""

    async def read() -> str:
        answer = await spec.read()
        return answer.model_dump_json(exclude_none=not answer.keeps_nulls)

    return Resource.from_function(
        read,
        spec.uri,
        name=text.name,
        title=text.title,
        description=text.description,
        mime_type="application/json",
        tags={spec.toolset},
    )
