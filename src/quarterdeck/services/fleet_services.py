"""The services of the fleet, together, as surfaces get them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.domain.answer import Answer
from quarterdeck.domain.questions import OptionKind
from quarterdeck.services.agent_logs import AgentLogService
from quarterdeck.services.agents import AgentService
from quarterdeck.services.cleaning import CleaningService
from quarterdeck.services.diffs import DiffService
from quarterdeck.services.elsewhere import Handler
from quarterdeck.services.log_following import LogFollowingService
from quarterdeck.services.projects import ProjectService
from quarterdeck.services.questions import QuestionService
from quarterdeck.services.spending import SpendingService
from quarterdeck.services.tasks import TaskService
from quarterdeck.services.waiting import WaitService


@dataclass(frozen=True, slots=True)
class FleetServices:
    """All that can be done with the fleet."""

    projects: ProjectService
    agents: AgentService
    tasks: TaskService
    logs: AgentLogService
    following: LogFollowingService
    questions: QuestionService
    waiting: WaitService
    diffs: DiffService
    spending: SpendingService
    cleaning: CleaningService


def handlers_of(services: FleetServices) -> Mapping[str, Handler]:
    """Return what other processes may ask of this one, by the names they use."""

    async def answer(arguments: Mapping[str, Any]) -> Answer:
        kind = arguments["kind"]
        return await services.questions.answer(
            arguments["question_id"],
            option_id=arguments["option_id"],
            kind=OptionKind(kind) if kind else None,
        )

    return {
        "restart": lambda given: services.agents.restart(**_plain(given)),
        "delete": lambda given: services.agents.delete(**_plain(given)),
        "start_task": lambda given: services.tasks.start(**_plain(given)),
        "cancel": lambda given: services.tasks.cancel(**_plain(given)),
        "diff": lambda given: services.diffs.show(**_plain(given)),
        "merge": lambda given: services.diffs.merge(**_plain(given)),
        "push": lambda given: services.diffs.push(**_plain(given)),
        "answer": answer,
    }


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    # Another process of ours asks, which checked them when it was asked.
    return dict(given)
