"""Tools that create agents, look at them, wait for them, and end them."""

from typing import Annotated, Literal

from pydantic import Field

from quarterdeck.domain.agents import (
    ANY_NAME_LENGTH,
    ANY_NAME_PATTERN,
    NAME_LENGTH,
    NAME_PATTERN,
    AgentStatus,
)
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import (
    CreateAgentResponse,
    DeleteAgentResponse,
    ListAgentsResponse,
    RestartAgentResponse,
    ShowAgentDiffResponse,
    ShowAgentResponse,
    WaitForAgentResponse,
)
from quarterdeck.domain.roles import DEFAULT_ROLE
from quarterdeck.domain.tasks import TASK_LENGTH
from quarterdeck.services.agents import AgentService
from quarterdeck.services.diffs import DiffService
from quarterdeck.services.waiting import WaitService
from quarterdeck.tools.registry import Toolset

AgentName = Annotated[
    str, Field(min_length=1, max_length=ANY_NAME_LENGTH, pattern=ANY_NAME_PATTERN)
]
NewName = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH, pattern=NAME_PATTERN)]
PageNumber = Annotated[int, Field(ge=1, le=1_000_000)]
TaskText = Annotated[str, Field(min_length=1, max_length=TASK_LENGTH)]
Named = Annotated[str, Field(min_length=1, max_length=100)]
Status = Literal[
    "pending",
    "starting",
    "idle",
    "busy",
    "stopping",
    "stopped",
    "failed",
    "canceling",
    "canceled",
    "deleting",
    "deleted",
]


def agent_tools(agents: AgentService, waiting: WaitService, diffs: DiffService) -> Toolset:
    """Return the seven tools over agents."""
    tools = Toolset("fleet")

    @tools.tool(Effect.READ)
    async def list_agents(
        status_filter: Status | None = None,
        project_filter: Named | None = None,
        include_metadata: bool = True,
    ) -> ListAgentsResponse:
        return await agents.list(
            status=AgentStatus(status_filter) if status_filter else None,
            project=project_filter,
            include_metadata=include_metadata,
        )

    @tools.tool(Effect.READ)
    async def show_agent(agent_name: AgentName, include_metadata: bool = True) -> ShowAgentResponse:
        return await agents.show(agent_name, include_metadata=include_metadata)

    @tools.tool(Effect.WRITE, is_idempotent=False)
    async def create_agent(
        name: NewName, project: Named, task: TaskText, role: Named = DEFAULT_ROLE
    ) -> CreateAgentResponse:
        return await agents.create(name, project, task, role=role)

    @tools.tool(Effect.DESTROY)
    async def delete_agent(agent_name: AgentName) -> DeleteAgentResponse:
        return await agents.delete(agent_name)

    @tools.tool(Effect.WRITE, is_idempotent=False)
    async def restart_agent(agent_name: AgentName) -> RestartAgentResponse:
        return await agents.restart(agent_name)

    @tools.tool(Effect.READ, asks=True)
    async def wait_for_agent(
        agent_names: Annotated[list[AgentName], Field(min_length=1, max_length=50)],
        until: Literal["idle", "changed", "question"] = "idle",
        timeout_seconds: Annotated[int, Field(ge=1, le=50)] = 45,
    ) -> WaitForAgentResponse:
        return await waiting.wait(agent_names, until=until, timeout_seconds=timeout_seconds)

    @tools.tool(Effect.READ)
    async def show_agent_diff(agent_name: AgentName, page: PageNumber = 1) -> ShowAgentDiffResponse:
        return await diffs.show(agent_name, page=page)

    return tools
