"""Tools that show what agents can be created for."""

from quarterdeck.domain.effect import Effect
from quarterdeck.domain.project_answers import ListAgentProjectsResponse, ListAgentRolesResponse
from quarterdeck.services.projects import ProjectService
from quarterdeck.tools.agents import Named
from quarterdeck.tools.registry import Toolset


def project_tools(projects: ProjectService) -> Toolset:
    """Return the two tools over projects and roles."""
    tools = Toolset("fleet")

    @tools.tool(Effect.READ)
    async def list_agent_projects() -> ListAgentProjectsResponse:
        return await projects.list_projects()

    @tools.tool(Effect.READ)
    async def list_agent_roles(project: Named) -> ListAgentRolesResponse:
        return await projects.list_roles(project)

    return tools
