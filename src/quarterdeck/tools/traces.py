"""Tools that read the record of calls."""

from typing import Annotated, Literal

from pydantic import Field

from quarterdeck.domain.effect import Effect
from quarterdeck.domain.trace import (
    TRACE_ID_LENGTH,
    TraceAnalyzeResponse,
    TraceGetResponse,
    TraceListResponse,
    TraceStatus,
)
from quarterdeck.services.traces import TraceService
from quarterdeck.tools.registry import Toolset

TraceId = Annotated[str, Field(min_length=1, max_length=TRACE_ID_LENGTH)]


def trace_tools(traces: TraceService) -> Toolset:
    """Return the three tools over `traces`."""
    tools = Toolset("trace")

    @tools.tool(Effect.READ)
    async def trace_list(
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
        status: Literal["success", "failure", "running"] | None = None,
    ) -> TraceListResponse:
        return await traces.list(limit=limit, status=TraceStatus(status) if status else None)

    @tools.tool(Effect.READ)
    async def trace_get(traceId: TraceId) -> TraceGetResponse:
        return await traces.get(traceId)

    @tools.tool(Effect.READ)
    async def trace_analyze(traceId: TraceId) -> TraceAnalyzeResponse:
        return await traces.analyze(traceId)

    return tools
