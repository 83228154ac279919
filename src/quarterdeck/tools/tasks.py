"""Tools that give agents tasks, stop them, and show what became of them."""

from typing import Annotated

from pydantic import Field

from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import (
    CancelAgentTaskResponse,
    ShowAgentLogResponse,
    ShowAgentTaskHistoryResponse,
    StartAgentTaskResponse,
)
from quarterdeck.services.agent_logs import AgentLogService
from quarterdeck.services.tasks import TaskService
from quarterdeck.tools.agents import AgentName, PageNumber, TaskText
from quarterdeck.tools.registry import Toolset

PageSize = Annotated[int, Field(ge=1, le=100)]


def task_tools(tasks: TaskService, logs: AgentLogService) -> Toolset:
    """Return the four tools over tasks and logs."""
    tools = Toolset("fleet")

    @tools.tool(Effect.WRITE, is_idempotent=False)
    async def start_agent_task(
        agent_name: AgentName, task_description: TaskText, queue: bool = False
    ) -> StartAgentTaskResponse:
        return await tasks.start(agent_name, task_description, queue=queue)

    @tools.tool(Effect.DESTROY)
    async def cancel_agent_task(agent_name: AgentName) -> CancelAgentTaskResponse:
        return await tasks.cancel(agent_name)

    @tools.tool(Effect.READ)
    async def show_agent_task_history(
        agent_name: AgentName, page: PageNumber = 1, page_size: PageSize = 20
    ) -> ShowAgentTaskHistoryResponse:
        return await tasks.history(agent_name, page=page, page_size=page_size)

    @tools.tool(Effect.READ)
    async def show_agent_log(
        agent_name: AgentName, page: PageNumber = 1, page_size: PageSize = 1
    ) -> ShowAgentLogResponse:
        return await logs.show(agent_name, page=page, page_size=page_size)

    return tools
