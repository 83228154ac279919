"""What the fleet's repositories promise, on both databases."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

import pytest

from quarterdeck.domain.agent_log import LogEntry, LogKind, LogLevel, LogRole
from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.questions import Option, OptionKind, Question, QuestionState
from quarterdeck.domain.tasks import Task, TaskState, Usage
from quarterdeck.domain.workspaces import Workspace
from quarterdeck.ports.fleet import Command, LogSpan
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.agent_log import SqlAgentLogRepository
from quarterdeck.repositories.sql.agents import SqlAgentRepository
from quarterdeck.repositories.sql.commands import SqlCommandRepository
from quarterdeck.repositories.sql.questions import SqlQuestionRepository
from quarterdeck.repositories.sql.tasks import SqlTaskRepository
from tests.support.stores import NOON, Database

T = TypeVar("T")

AGENTS, TASKS, LOG = SqlAgentRepository(), SqlTaskRepository(), SqlAgentLogRepository()
QUESTIONS, COMMANDS = SqlQuestionRepository(), SqlCommandRepository()
LATER = NOON + timedelta(hours=1)
WORKSPACE = Workspace(kind="worktree", path="/w/sony", branch="quarterdeck/sony", base="c0ffee")


def agent(name: str, *, at: datetime = NOON, status: AgentStatus = AgentStatus.IDLE) -> Agent:
    return Agent(
        id=new_id(at),
        name=name,
        runtime="local",
        project_id="p1",
        project="Setup",
        role_id="r1",
        role="coder",
        status=status,
        node_id="n1",
        daemon_id="d1",
        workspace_id="w1",
        created_at=at,
        updated_at=at,
    )


def task(of: Agent, *, at: datetime = NOON, state: TaskState = TaskState.QUEUED) -> Task:
    return Task(
        id=new_id(at),
        agent_id=of.id,
        daemon_id="d1",
        message="fix the login test",
        state=state,
        created_at=at,
        ended_at=None if state in {TaskState.QUEUED, TaskState.RUNNING} else at,
    )


def entry(of: str, seq: int, message: str = "hello") -> LogEntry:
    return LogEntry(of, seq, NOON, LogLevel.INFO, LogRole.AGENT, LogKind.MESSAGE, message)


def question(of: Agent, *, at: datetime = NOON) -> Question:
    return Question(
        id=new_id(at),
        agent_id=of.id,
        agent_name=of.name,
        daemon_id="d1",
        task_id=None,
        title="May I?",
        tool_kind="execute",
        paths=("a b", "ü"),
        options=(Option(id="yes", name="Allow", kind=OptionKind.ALLOW_ONCE),),
        default=None,
        asked_at=at,
        deadline=at + timedelta(hours=1),
    )


async def write(database: Database, decide: Callable[[Transaction], T]) -> T:
    return await database.store.write(decide)


async def read(database: Database, look: Callable[[Transaction], T]) -> T:
    return await database.store.read(look)


async def add(database: Database, *agents: Agent) -> None:
    for each in agents:
        await write(database, lambda tx, new=each: AGENTS.add(tx, new))


async def test_an_agent_is_found_as_it_was_added_and_as_it_was_saved(database: Database) -> None:
    plain = agent("sony")
    full = replace(
        plain,
        workspace=WORKSPACE,
        reason="because",
        conversation="c1",
        last_task="t",
        last_report="r",
        usage=Usage(input_tokens=1, output_tokens=2, total_tokens=3, cost=0.25, currency="USD"),
        status=AgentStatus.FAILED,
        updated_at=LATER,
    )
    await add(database, plain)
    assert await read(database, lambda tx: AGENTS.find(tx, plain.id)) == plain
    await write(database, lambda tx: AGENTS.save(tx, full))
    assert await read(database, lambda tx: AGENTS.find(tx, plain.id)) == full
    assert await read(database, lambda tx: AGENTS.find(tx, "nobody")) is None


async def test_an_agent_is_found_by_its_name_in_any_case(database: Database) -> None:
    await add(database, agent("Sony"))
    found = await read(database, lambda tx: AGENTS.find_named(tx, "sONY"))
    assert found is not None
    assert found.name == "Sony"


async def test_no_two_living_agents_have_the_same_name(database: Database) -> None:
    await add(database, agent("sony"))
    with pytest.raises(Exception, match=r"(?i)unique"):
        await add(database, agent("SONY", at=LATER))


async def test_a_name_is_free_once_its_agent_is_being_deleted(database: Database) -> None:
    old, new = agent("sony"), agent("sony", at=LATER)
    await add(database, old)
    await write(database, lambda tx: AGENTS.save(tx, replace(old, status=AgentStatus.DELETING)))
    await add(database, new)
    found = await read(database, lambda tx: AGENTS.find_named(tx, "sony"))
    assert found == new


async def test_of_deleted_agents_of_one_name_the_newest_is_found(database: Database) -> None:
    gone = [
        agent("sony", at=NOON + timedelta(hours=hour), status=AgentStatus.DELETED)
        for hour in range(3)
    ]
    await add(database, *gone)
    assert await read(database, lambda tx: AGENTS.find_named(tx, "sony")) == gone[-1]


async def test_agents_are_listed_newest_first_and_deleted_ones_only_on_request(
    database: Database,
) -> None:
    first, second = agent("sony"), agent("papi", at=LATER)
    gone = replace(agent("old", status=AgentStatus.DELETED), deleted_at=LATER)
    await add(database, first, second, gone)
    assert await read(database, AGENTS.list) == [second, first]
    deleted = await read(database, lambda tx: AGENTS.list(tx, AgentStatus.DELETED))
    assert deleted == [gone]


async def test_an_agent_is_forgotten_with_all_that_belongs_to_it(database: Database) -> None:
    sony, papi = agent("sony"), agent("papi")
    await add(database, sony, papi)

    def fill(tx: Transaction) -> None:
        for each in (sony, papi):
            TASKS.add(tx, task(each))
            LOG.add(tx, entry(each.id, 1))
            QUESTIONS.add(tx, question(each))

    await write(database, fill)
    await write(database, lambda tx: AGENTS.remove(tx, sony.id))
    counts = {
        each.name: await read(
            database,
            lambda tx, of=each.id: (
                TASKS.count(tx, of),
                LOG.span(tx, of).count,
                len([each for each in QUESTIONS.open(tx) if each.agent_id == of]),
            ),
        )
        for each in (sony, papi)
    }
    assert counts == {"sony": (0, 0, 0), "papi": (1, 1, 1)}


async def test_a_task_is_found_as_it_was_saved(database: Database) -> None:
    new = task(agent("sony"))
    done = replace(
        new,
        state=TaskState.DONE,
        started_at=NOON,
        ended_at=LATER,
        result="done",
        uri="https://example.com/1",
        stop_reason="end_turn",
        branch="quarterdeck/sony",
        commits=("c1", "c2"),
        files=("a b", "ü"),
        usage=Usage(total_tokens=3),
        verdict="PASS",
    )
    await write(database, lambda tx: TASKS.add(tx, new))
    await write(database, lambda tx: TASKS.save(tx, done))
    assert await read(database, lambda tx: TASKS.find(tx, new.id)) == done


async def test_open_tasks_come_oldest_first_and_pages_newest_first(database: Database) -> None:
    sony = agent("sony")
    states = [TaskState.DONE, TaskState.RUNNING, TaskState.QUEUED]
    tasks = [
        task(sony, at=NOON + timedelta(minutes=number), state=state)
        for number, state in enumerate(states)
    ]
    for each in (*tasks, task(agent("papi"))):
        await write(database, lambda tx, new=each: TASKS.add(tx, new))
    assert await read(database, lambda tx: TASKS.open_of(tx, sony.id)) == tasks[1:]
    assert await read(database, lambda tx: TASKS.newest_of(tx, sony.id)) == tasks[2]
    page = await read(database, lambda tx: TASKS.page(tx, sony.id, offset=1, limit=5))
    assert page == [tasks[1], tasks[0]]
    assert await read(database, lambda tx: TASKS.count(tx, sony.id)) == 3


async def test_spending_is_summed_by_day_and_agent(database: Database) -> None:
    sony, papi = agent("sony"), agent("papi")
    await add(database, sony, papi)
    spent = [
        (sony, NOON, 1.0),
        (sony, LATER, 0.5),
        (papi, NOON, 0.1),
        (sony, NOON + timedelta(days=1), 2.0),
        (sony, NOON - timedelta(days=9), 5.0),
    ]
    for of, at, cost in spent:
        used = replace(task(of, at=at), usage=Usage(cost=cost, currency="USD"))
        await write(database, lambda tx, new=used: TASKS.add(tx, new))
    rows = await read(database, lambda tx: TASKS.spending(tx, NOON - timedelta(days=1)))
    assert {(row.day, row.agent_name): row.usage.cost for row in rows} == {
        ("2026-03-02", "sony"): 2.0,
        ("2026-03-01", "sony"): 1.5,
        ("2026-03-01", "papi"): 0.1,
    }
    assert rows[0].day == "2026-03-02"


async def test_a_log_grows_entry_by_entry_and_within_its_last(database: Database) -> None:
    def fill(tx: Transaction) -> None:
        LOG.add(tx, entry("a1", 1, "one"))
        LOG.add(tx, entry("a1", 2, "tw"))
        LOG.extend(tx, "a1", 2, "o ü")
        LOG.add(tx, entry("a2", 1, "other"))

    await write(database, fill)
    assert await read(database, lambda tx: LOG.span(tx, "a1")) == LogSpan(1, 2, 8)
    found = await read(database, lambda tx: LOG.entries(tx, "a1", 1, 9))
    assert [each.message for each in found] == ["two ü", "one"]
    assert found[1] == entry("a1", 1, "one")


async def test_the_oldest_entries_of_a_log_can_be_taken_out(database: Database) -> None:
    def fill(tx: Transaction) -> None:
        for seq in range(1, 6):
            LOG.add(tx, entry("a1", seq))

    await write(database, fill)
    await write(database, lambda tx: LOG.remove(tx, "a1", 3))
    assert await read(database, lambda tx: LOG.span(tx, "a1")) == LogSpan(4, 5, 10)
    assert await read(database, lambda tx: LOG.span(tx, "nobody")) == LogSpan(0, 0, 0)


async def test_a_question_is_open_until_it_has_an_end(database: Database) -> None:
    sony = agent("sony")
    first, second = question(sony), question(sony, at=LATER)
    for each in (second, first):
        await write(database, lambda tx, new=each: QUESTIONS.add(tx, new))
    assert await read(database, QUESTIONS.open) == [first, second]
    answered = replace(
        first,
        state=QuestionState.ANSWERED,
        option_id="yes",
        answered_by="user:me",
        answered_at=LATER,
    )
    await write(database, lambda tx: QUESTIONS.save(tx, answered))
    assert await read(database, QUESTIONS.open) == [second]
    assert await read(database, lambda tx: QUESTIONS.find(tx, first.id)) == answered


def command(to: str, *, at: datetime = NOON) -> Command:
    return Command(new_id(at), to, "cancel", "{}", at, at + timedelta(seconds=40))


async def test_a_command_waits_for_its_daemon_and_is_taken_once(database: Database) -> None:
    first, second, other = command("d1"), command("d1", at=LATER), command("d2")
    for each in (second, first, other):
        await write(database, lambda tx, new=each: COMMANDS.add(tx, new))
    assert await read(database, lambda tx: COMMANDS.waiting(tx, "d1")) == [first, second]
    taken = [await write(database, lambda tx: COMMANDS.take(tx, first.id, LATER)) for _ in range(2)]
    assert taken == [True, False]
    assert await read(database, lambda tx: COMMANDS.waiting(tx, "d1")) == [second]


async def test_a_command_has_an_answer_or_an_error_until_it_is_forgotten(
    database: Database,
) -> None:
    asked = command("d1")
    await write(database, lambda tx: COMMANDS.add(tx, asked))
    await write(database, lambda tx: COMMANDS.finish(tx, asked.id, '{"ok":1}', None))
    found = await read(database, lambda tx: COMMANDS.find(tx, asked.id))
    assert found == replace(asked, answer='{"ok":1}')
    await write(database, lambda tx: COMMANDS.remove(tx, asked.id))
    assert await read(database, lambda tx: COMMANDS.find(tx, asked.id)) is None


async def test_commands_that_nobody_waits_for_are_pruned(database: Database) -> None:
    old, new = command("d1"), command("d1", at=LATER)
    for each in (old, new):
        await write(database, lambda tx, asked=each: COMMANDS.add(tx, asked))
    await write(database, lambda tx: COMMANDS.prune(tx, LATER))
    assert await read(database, lambda tx: COMMANDS.waiting(tx, "d1")) == [new]
