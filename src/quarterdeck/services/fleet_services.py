"""The services of the fleet, together, as surfaces get them."""

from dataclasses import dataclass

from quarterdeck.services.agent_logs import AgentLogService
from quarterdeck.services.agents import AgentService
from quarterdeck.services.diffs import DiffService
from quarterdeck.services.projects import ProjectService
from quarterdeck.services.questions import QuestionService
from quarterdeck.services.tasks import TaskService
from quarterdeck.services.waiting import WaitService


@dataclass(frozen=True, slots=True)
class FleetServices:
    """All that can be done with the fleet."""

    projects: ProjectService
    agents: AgentService
    tasks: TaskService
    logs: AgentLogService
    questions: QuestionService
    waiting: WaitService
    diffs: DiffService
