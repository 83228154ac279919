"""Tools that show what agents ask, and answer them for a person."""

from typing import Annotated, Literal

from pydantic import Field

from quarterdeck.domain.access import Scope
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import QuestionAnswerResponse, QuestionListResponse
from quarterdeck.domain.questions import OptionKind
from quarterdeck.services.questions import QuestionService
from quarterdeck.tools.agents import AgentName
from quarterdeck.tools.registry import Toolset

Id = Annotated[str, Field(min_length=1, max_length=200)]
Kind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


def question_tools(questions: QuestionService) -> Toolset:
    """Return the two tools over questions; an agent's own token does not have their scope."""
    tools = Toolset("fleet")

    @tools.tool(Effect.READ, scope=Scope.APPROVE)
    async def question_list(agent_name: AgentName | None = None) -> QuestionListResponse:
        return await questions.list(agent_name=agent_name)

    @tools.tool(Effect.WRITE, scope=Scope.APPROVE, is_idempotent=False)
    async def question_answer(
        question_id: Id, option_id: Id | None = None, kind: Kind | None = None
    ) -> QuestionAnswerResponse:
        return await questions.answer(
            question_id, option_id=option_id, kind=OptionKind(kind) if kind else None
        )

    return tools
