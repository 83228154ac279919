"""Questions of agents, for those who may answer them."""

from collections.abc import AsyncGenerator, Sequence
from functools import partial

from quarterdeck.domain.access import Scope
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import (
    OptionRow,
    QuestionAnswerResponse,
    QuestionListResponse,
    QuestionRow,
)
from quarterdeck.domain.questions import (
    Option,
    OptionKind,
    Question,
    QuestionState,
    option_of,
    option_of_id,
)
from quarterdeck.errors import InvalidInput, QuestionClosed, QuestionNotFound, Unavailable
from quarterdeck.ports.store import Transaction
from quarterdeck.services.calls import current_frame
from quarterdeck.services.crew.desk import QuestionDesk
from quarterdeck.services.elsewhere import Elsewhere
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation


class QuestionService:
    """What agents ask, and the answers of people."""

    def __init__(self, fleet: Fleet, elsewhere: Elsewhere, desk: QuestionDesk) -> None:
        """Agents of this process wait at `desk`; those of others are reached `elsewhere`."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._elsewhere = elsewhere
        self._desk = desk

    @operation("question.list", Effect.READ, scope=Scope.APPROVE)
    async def list(self, op: Operation, *, agent_name: str | None = None) -> QuestionListResponse:
        """Return the questions that wait for an answer, oldest first."""

        def look(tx: Transaction) -> Sequence[Question]:
            questions = self._fleet.rows.questions.open(tx)
            if agent_name is None:
                return questions
            agent = self._fleet.find_in(tx, agent_name)
            return [question for question in questions if question.agent_id == agent.id]

        rows = [question_row(question) for question in await op.read(look)]
        return QuestionListResponse(questions=rows, total_count=len(rows))

    async def changes(self) -> AsyncGenerator[None]:
        """Yield each time that this process's agents have asked, or need no answer any more."""
        known = await self._open_ids()
        async with self._fleet.crew.changes.watched() as changed:
            while True:
                await changed.wait()
                changed.clear()
                try:
                    now = await self._open_ids()
                except Unavailable:
                    continue  # the change after this one tells of both
                if now != known:
                    known = now
                    yield

    async def _open_ids(self) -> set[str]:
        look = self._fleet.rows.questions.open
        return {question.id for question in await self.operations.store.read(look)}

    @operation("question.answer", Effect.WRITE, scope=Scope.APPROVE)
    async def answer(
        self,
        op: Operation,
        question_id: str,
        *,
        option_id: str | None = None,
        kind: OptionKind | None = None,
    ) -> QuestionAnswerResponse:
        """Answer by the id of an option, or by what it means."""
        if (option_id is None) == (kind is None):
            raise InvalidInput.field(
                "option_id" if option_id is None else "kind",
                "must be given, or the other, but not both",
                hint="pass option_id as question_list shows it, or kind such as allow_once",
            )
        question = await op.read(lambda tx: self._fleet.rows.questions.find(tx, question_id))
        if question is None:
            raise QuestionNotFound(question_id)
        if question.state is not QuestionState.OPEN:
            raise QuestionClosed(question_id, question.state.value)  # whose daemon may be gone
        if question.daemon_id != self._fleet.here.daemon_id:
            return await self._answer_elsewhere(question, option_id, kind)
        by = current_frame().call.actor

        def decide(tx: Transaction) -> QuestionAnswerResponse:
            choose = partial(_chosen, option_id=option_id, kind=kind)
            return _answered(self._desk.answer(tx, question_id, choose, by))

        answer = await op.commit(decide)
        self._desk.hand_over(question_id, str(answer.question.answer_option_id))
        return answer

    async def _answer_elsewhere(
        self, question: Question, option_id: str | None, kind: OptionKind | None
    ) -> QuestionAnswerResponse:
        find = self._fleet.rows.agents.find
        agent = await self.operations.store.read(lambda tx: find(tx, question.agent_id))
        if agent is None:
            raise QuestionClosed(question.id, "withdrawn")
        asked = {"question_id": question.id, "option_id": option_id, "kind": kind}
        return await self._elsewhere.ask(agent, "answer", asked, QuestionAnswerResponse)


def _chosen(question: Question, option_id: str | None, kind: OptionKind | None) -> Option:
    if option_id is not None:
        chosen = option_of_id(question.options, option_id)
    else:
        assert kind is not None, "one of both was given"
        chosen = option_of(question.options, kind)
    if chosen is None:
        offered = ", ".join(f"{option.id} ({option.kind})" for option in question.options)
        raise InvalidInput.field(
            "kind" if option_id is None else "option_id",
            "is none of the answers that the agent offers",
            hint=f"it offers: {offered or 'none'}",
        )
    return chosen


def question_row(question: Question) -> QuestionRow:
    """Return a question as it is shown."""
    options = [
        OptionRow(option_id=option.id, name=option.name, kind=option.kind.value)
        for option in question.options
    ]
    return QuestionRow(
        question_id=question.id,
        agent_name=question.agent_name,
        title=question.title,
        tool_kind=question.tool_kind,
        paths=list(question.paths),
        options=options,
        default_option_id=question.default,
        asked_at=question.asked_at,
        deadline=question.deadline,
        state=question.state.value,
        answer_option_id=question.option_id,
        answered_by=question.answered_by,
        answered_at=question.answered_at,
    )


def _answered(question: Question) -> QuestionAnswerResponse:
    option = option_of_id(question.options, question.option_id or "")
    name = option.name if option else question.option_id
    message = f"Agent {question.agent_name!r} was told: {name}"
    return QuestionAnswerResponse(question=question_row(question), message=message)
