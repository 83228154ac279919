"""What the command line asks of the daemon and no model is offered."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from quarterdeck.domain.agent_log import LogLevel
from quarterdeck.domain.command_answers import (
    CleanResponse,
    FollowAgentLogResponse,
    ShowUsageResponse,
)
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import MergeAgentResponse, PushAgentResponse
from quarterdeck.services.fleet_services import FleetServices
from quarterdeck.services.log_following import Position, Wanted
from quarterdeck.tools.agents import AgentName, agent_tools
from quarterdeck.tools.questions import question_tools
from quarterdeck.tools.registry import Toolset, ToolSpec
from quarterdeck.tools.tasks import task_tools

Level = Literal["DEBUG", "INFO", "WARN", "ERROR"]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[int, Field(ge=0, le=3650 * 86_400)]
GitName = Annotated[str, Field(min_length=1, max_length=200)]


def commanded(fleet: FleetServices) -> Mapping[str, ToolSpec]:
    """Return all that a command may ask for, by name."""
    toolsets = (
        agent_tools(fleet.agents, fleet.waiting, fleet.diffs),
        task_tools(fleet.tasks, fleet.logs),
        question_tools(fleet.questions),
        command_tools(fleet),
    )
    return {spec.name: spec for toolset in toolsets for spec in toolset.tools}


def command_tools(fleet: FleetServices) -> Toolset:
    """Return what only commands ask for."""
    tools = Toolset("command")

    @tools.tool(Effect.READ)
    async def read_log_end(
        agent_name: AgentName,
        count: Annotated[int, Field(ge=0, le=10_000)] = 20,
        level: Level = "DEBUG",
    ) -> FollowAgentLogResponse:
        wanted = Wanted(LogLevel(level))
        return await fleet.following.last(agent_name, count=count, wanted=wanted)

    @tools.tool(Effect.READ)
    async def follow_log(
        agent_name: AgentName,
        seq: Count,
        offset: Count,
        level: Level = "DEBUG",
        state: str | None = None,
        wait_seconds: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> FollowAgentLogResponse:
        return await fleet.following.follow(
            agent_name,
            Position(seq, offset),
            wanted=Wanted(LogLevel(level), state),
            wait_seconds=wait_seconds,
        )

    @tools.tool(Effect.WRITE, is_idempotent=False)
    async def merge_agent(agent_name: AgentName, into: GitName | None = None) -> MergeAgentResponse:
        return await fleet.diffs.merge(agent_name, into=into)

    @tools.tool(Effect.WRITE)
    async def push_agent(
        agent_name: AgentName, remote: GitName = "origin", branch: GitName | None = None
    ) -> PushAgentResponse:
        return await fleet.diffs.push(agent_name, remote=remote, branch=branch)

    @tools.tool(Effect.READ)
    async def show_usage(
        days: Annotated[int, Field(ge=1, le=3650)] = 30,
    ) -> ShowUsageResponse:
        return await fleet.spending.show(days=days)

    @tools.tool(Effect.DESTROY)
    async def clean_fleet(older_than_seconds: Seconds | None = None) -> CleanResponse:
        return await fleet.cleaning.clean(older_than=_age(older_than_seconds))

    @tools.tool(Effect.READ)
    async def preview_clean(older_than_seconds: Seconds | None = None) -> CleanResponse:
        return await fleet.cleaning.preview(older_than=_age(older_than_seconds))

    return tools


def _age(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
