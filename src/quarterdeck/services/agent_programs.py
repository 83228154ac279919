"""The programs of agents: fetched when somebody asks for it, and never otherwise."""

from quarterdeck.domain.access import Scope
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.known_agents import KNOWN_AGENTS
from quarterdeck.domain.project_answers import InstallResponse
from quarterdeck.errors import NotFound, closest_name
from quarterdeck.ports.agent_programs import AgentPrograms, Say
from quarterdeck.services.operation import Operation, Operations, operation


class AgentProgramService:
    """What this machine can start."""

    def __init__(self, operations: Operations, programs: AgentPrograms) -> None:
        """`programs` knows where they are."""
        self.operations = operations
        self._programs = programs

    @operation("role.install", Effect.WRITE, scope=Scope.ADMIN, long=True)
    async def install(self, op: Operation, name: str, say: Say) -> InstallResponse:
        """Fetch the pinned version of a known agent; safe to repeat."""
        agent = KNOWN_AGENTS.get(name)
        if agent is None:
            raise _unknown(name)
        program = await self._programs.install(agent, say)
        what = "Installed" if program.is_new else "Installed before:"
        return InstallResponse(
            agent=name,
            version=program.version,
            path=program.path,
            installed=program.is_new,
            message=f"{what} {agent.title} {program.version}",
        )


def _unknown(name: str) -> NotFound:
    closest = closest_name(name.lower(), tuple(KNOWN_AGENTS))
    return NotFound(
        f"No agent is known by the name {name!r}",
        details={"agent": name, "known": list(KNOWN_AGENTS)},
        hint=f"did you mean {closest!r}?" if closest else f"known are {', '.join(KNOWN_AGENTS)}",
    )
