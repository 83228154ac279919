"""Questions whose answer and whose end come together."""

import asyncio
from datetime import timedelta
from pathlib import Path

from quarterdeck.domain.agent_events import PermissionRequest
from quarterdeck.domain.questions import Option, QuestionState
from quarterdeck.domain.roles import PermissionPolicy
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.agent_log_files import AgentLogFiles
from quarterdeck.repositories.sql.sqlite import SqliteStore
from quarterdeck.services.crew.changes import Changes
from quarterdeck.services.crew.desk import Asker, QuestionDesk
from quarterdeck.services.crew.log_writer import LogWriter
from quarterdeck.testing import FixedClock
from quarterdeck.testing.fake_agent import OPTIONS
from tests.support.crews import AMPLE, DAEMON, CrewSite, Sluice, fleet_rows
from tests.support.runtimes import eventually

ALLOW: Option = OPTIONS[0]


async def test_an_answer_that_is_written_before_the_end_of_a_question_is_what_the_agent_hears(
    store: SqliteStore, tmp_path: Path
) -> None:
    spec, task = await CrewSite(store, tmp_path).new_agent("sony", "/ask May I?")
    # Each look at the clock takes longer than the question lasts.
    sluice, clock = Sluice(store, held=frozenset({2})), FixedClock(step=timedelta(seconds=2))
    log = LogWriter(sluice, fleet_rows().log, AgentLogFiles(tmp_path), clock, AMPLE)
    questions = fleet_rows().questions
    desk = QuestionDesk(sluice, questions, clock, log, Changes(), DAEMON)
    asker = Asker(spec.agent_id, spec.name, task.id, PermissionPolicy(question_seconds=1))
    request = PermissionRequest(title="May I?", tool_kind="execute", options=OPTIONS)
    deciding = asyncio.create_task(desk.decide(asker, request))
    await eventually(lambda: sluice.asked == 2)  # it is about to write that time is up
    (question,) = await store.read(questions.open)

    def answer(tx: Transaction) -> None:
        desk.answer(tx, question.id, lambda _: ALLOW, "a person")

    await store.write(answer)
    sluice.open()
    assert await deciding == ALLOW.id
    found = await store.read(lambda tx: questions.find(tx, question.id))
    assert found is not None
    assert (found.state, found.option_id) == (QuestionState.ANSWERED, ALLOW.id)
