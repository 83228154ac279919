"""What every runtime must do, as tests.

A test module makes a subclass whose name begins with `Test`, with a fixture `harness` that yields
a `RuntimeHarness`. Prompts are directives of the scripted agent: what runs behind the runtime has
to understand `/say`, `/plan`, `/write`, `/ask`, `/usage`, `/unknown`, `/hang`, `/fail`, `/refuse`
and `/crash`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import anyio

from quarterdeck.domain.agent_events import Noticed, Planned, Said, Spent, UsedTool
from quarterdeck.domain.questions import OptionKind
from quarterdeck.domain.tasks import StopReason, Usage
from quarterdeck.errors import AgentBusy, AgentFailed, QuarterdeckError
from quarterdeck.ports.runtime import AgentRuntime, AgentSpec, Started
from quarterdeck.testing.runtime_listener import PATIENCE_SECONDS, RecordingListener

MakeSpec = Callable[[str], Awaitable[AgentSpec]]


@dataclass
class RuntimeHarness:
    """An open runtime, and how to get agents for it.

    `new_spec` plans an agent of a name. `resumes` says whether conversations go on after a
    restart, `left_running` what still runs of all agents, in words.
    """

    runtime: AgentRuntime
    listener: RecordingListener
    new_spec: MakeSpec
    left_running: Callable[[], Sequence[object]]
    resumes: bool = True
    reports: list[str] = field(default_factory=list[str])

    async def report(self, text: str) -> None:
        """Note what a runtime says of its progress."""
        self.reports.append(text)

    async def started(self, name: str = "sony") -> AgentSpec:
        """Return an agent that is ready, with its conversation."""
        spec = await self.new_spec(name)
        return replace(spec, conversation=(await self.create(spec)).conversation)

    async def create(self, spec: AgentSpec) -> Started:
        """Create an agent."""
        return await self.runtime.create(spec, self.report)

    async def run(self, spec: AgentSpec, *lines: str) -> StopReason:
        """Run a task of these lines and return how it ended."""
        with anyio.fail_after(PATIENCE_SECONDS):
            return (await self.runtime.run(spec.agent_id, "\n".join(lines))).stop_reason

    async def failure(self, work: Awaitable[object]) -> QuarterdeckError:
        """Return the error that work fails with."""
        try:
            with anyio.fail_after(PATIENCE_SECONDS):
                await work
        except QuarterdeckError as error:
            return error
        raise AssertionError("it did not fail")

    def begin(self, spec: AgentSpec, *lines: str) -> asyncio.Task[StopReason]:
        """Run a task beside the test."""
        return asyncio.create_task(self.run(spec, *lines))


class RuntimeContract:
    """The suite; each test gets a runtime without agents."""

    async def test_an_agent_that_was_created_is_ready_for_a_task(
        self, harness: RuntimeHarness
    ) -> None:
        """Its conversation has a name and it is running; progress was reported."""
        spec = await harness.new_spec("sony")
        assert not harness.runtime.is_running(spec.agent_id)
        started = await harness.create(spec)
        assert started.conversation
        assert not started.resumed
        assert harness.reports
        assert harness.runtime.is_running(spec.agent_id)

    async def test_creating_an_agent_again_is_safe(self, harness: RuntimeHarness) -> None:
        """A second create leaves one agent that works."""
        spec = await harness.started()
        await harness.create(spec)
        assert await harness.run(spec, "/say again") is StopReason.END_TURN
        assert harness.listener.said(spec.agent_id) == "again"

    async def test_a_create_that_was_cut_short_can_be_repeated(
        self, harness: RuntimeHarness
    ) -> None:
        """Wherever it is cut, nothing of it stays running, and the next one works."""
        spec = await harness.new_spec("sony")
        for steps in (1, 5, 50):
            creating = asyncio.create_task(harness.create(spec))
            for _ in range(steps):
                await asyncio.sleep(0)
            creating.cancel()
            with suppress(asyncio.CancelledError):
                await creating
        await harness.create(spec)
        assert await harness.run(spec, "/say hello") is StopReason.END_TURN

    async def test_events_of_a_task_come_in_order_and_before_its_end(
        self, harness: RuntimeHarness
    ) -> None:
        """A plan, a tool call and text are heard as what they are."""
        spec = await harness.started()
        end = await harness.run(
            spec, "/plan look; mend", "/write note.txt hello", "/say all is well"
        )
        events = harness.listener.events[spec.agent_id]
        kinds = [type(event) for event in events if isinstance(event, Planned | UsedTool | Said)]
        assert list(dict.fromkeys(kinds)) == [Planned, UsedTool, Said]
        assert end is StopReason.END_TURN
        assert harness.listener.said(spec.agent_id) == "all is well"
        plan = next(event for event in events if isinstance(event, Planned))
        assert plan.entries == (("look", "in_progress"), ("mend", "pending"))
        calls = [event for event in events if isinstance(event, UsedTool)]
        assert len({call.call_id for call in calls}) == 1
        assert {call.title for call in calls} == {"Write note.txt"}
        assert calls[0].tool_kind == calls[-1].tool_kind == "edit"
        assert calls[-1].status == "completed"
        assert any(path.endswith("note.txt") for path in calls[-1].paths)

    async def test_tokens_and_cost_are_reported(self, harness: RuntimeHarness) -> None:
        """Tokens come with the turn's end, the cost as an event."""
        spec = await harness.started()
        end = await harness.runtime.run(spec.agent_id, "/usage 100 20 0.25")
        assert end.usage == Usage(input_tokens=100, output_tokens=20, total_tokens=120)
        spent = [e for e in harness.listener.events[spec.agent_id] if isinstance(e, Spent)]
        assert [(event.cost, event.currency) for event in spent] == [(0.25, "USD")]

    async def test_a_permission_is_asked_for_and_the_answer_reaches_the_agent(
        self, harness: RuntimeHarness
    ) -> None:
        """The question names what is asked and what can be answered; a no is a no."""
        spec = await harness.started()
        await harness.run(spec, "/ask delete everything")
        harness.listener.answer = OptionKind.REJECT_ONCE
        await harness.run(spec, "/ask once more")
        first, second = (request for _, request in harness.listener.questions)
        assert (first.title, second.title) == ("delete everything", "once more")
        assert first.tool_kind == "execute"
        assert {OptionKind.ALLOW_ONCE, OptionKind.REJECT_ONCE} <= {o.kind for o in first.options}
        said = harness.listener.said(spec.agent_id)
        assert said == "permission: allow-oncepermission: reject-once"

    async def test_a_question_can_be_withdrawn(self, harness: RuntimeHarness) -> None:
        """An agent whose question nobody answers is told so."""
        spec = await harness.started()
        harness.listener.answer = None
        await harness.run(spec, "/ask anything")
        assert harness.listener.said(spec.agent_id) == "permission: cancelled"

    async def test_a_task_is_interrupted(self, harness: RuntimeHarness) -> None:
        """The task ends as cancelled, and the agent takes the next one."""
        spec = await harness.started()
        task = harness.begin(spec, "/say begun", "/hang")
        await harness.listener.until(lambda: harness.listener.said(spec.agent_id) == "begun")
        await harness.runtime.interrupt(spec.agent_id)
        assert await task is StopReason.CANCELLED
        assert await harness.run(spec, "/say more") is StopReason.END_TURN

    async def test_an_interrupt_right_after_the_start_is_not_lost(
        self, harness: RuntimeHarness
    ) -> None:
        """It reaches the agent after the task, however soon it comes."""
        spec = await harness.started()
        task = harness.begin(spec, "/hang")
        await asyncio.sleep(0)
        await harness.runtime.interrupt(spec.agent_id)
        assert await task is StopReason.CANCELLED

    async def test_an_interrupt_withdraws_open_questions(self, harness: RuntimeHarness) -> None:
        """Whoever was asked is told that the answer is no longer wanted."""
        spec = await harness.started()
        harness.listener.hold_answers()
        task = harness.begin(spec, "/ask anything", "/hang")
        await harness.listener.until(lambda: bool(harness.listener.questions))
        await harness.runtime.interrupt(spec.agent_id)
        assert await task is StopReason.CANCELLED
        assert harness.listener.withdrawn == [spec.agent_id]

    async def test_an_interrupt_without_a_task_changes_nothing(
        self, harness: RuntimeHarness
    ) -> None:
        """The next task is not affected."""
        spec = await harness.started()
        await harness.runtime.interrupt(spec.agent_id)
        assert await harness.run(spec, "/say fine") is StopReason.END_TURN

    async def test_a_refusal_and_a_failed_task_leave_the_agent_usable(
        self, harness: RuntimeHarness
    ) -> None:
        """A model that will not is no failure; an error is one, with the agent's words."""
        spec = await harness.started()
        assert await harness.run(spec, "/refuse") is StopReason.REFUSAL
        error = await harness.failure(harness.run(spec, "/fail the model is away"))
        assert isinstance(error, AgentFailed)
        assert "the model is away" in error.message
        assert await harness.run(spec, "/say here") is StopReason.END_TURN

    async def test_a_crash_is_reported_once(self, harness: RuntimeHarness) -> None:
        """The task fails with the reason, the listener is told, and nothing runs."""
        spec = await harness.started()
        error = await harness.failure(harness.run(spec, "/say dying", "/crash 3"))
        assert isinstance(error, AgentFailed)
        await harness.listener.until(lambda: bool(harness.listener.ends))
        assert not harness.runtime.is_running(spec.agent_id)
        again = await harness.failure(harness.run(spec, "/say anybody"))
        assert isinstance(again, AgentFailed)
        await harness.runtime.stop(spec.agent_id)
        assert [agent_id for agent_id, _ in harness.listener.ends] == [spec.agent_id]
        assert harness.listener.ends[0][1] in error.message
        assert harness.listener.said(spec.agent_id) == "dying"

    async def test_a_restart_goes_on_with_the_conversation_if_it_can(
        self, harness: RuntimeHarness
    ) -> None:
        """After a crash too; nothing that was said before is told again."""
        spec = await harness.started()
        await harness.run(spec, "/say remember this")
        await harness.failure(harness.run(spec, "/crash 1"))
        started = await harness.runtime.restart(spec, harness.report)
        assert started.resumed is harness.resumes
        assert (started.conversation == spec.conversation) is harness.resumes
        assert await harness.run(spec, "/say and this") is StopReason.END_TURN
        said = harness.listener.said(spec.agent_id)
        assert said.count("remember this") == 1

    async def test_a_restart_ends_what_the_agent_does(self, harness: RuntimeHarness) -> None:
        """The task fails, and whoever listens is not told of a crash."""
        spec = await harness.started()
        task = harness.begin(spec, "/say begun", "/hang")
        await harness.listener.until(lambda: harness.listener.said(spec.agent_id) == "begun")
        await harness.runtime.restart(spec, harness.report)
        with suppress(AgentFailed):
            assert await task is StopReason.CANCELLED
        assert await harness.run(spec, "/say fresh") is StopReason.END_TURN
        assert harness.listener.ends == []

    async def test_stop_and_delete_can_be_repeated(self, harness: RuntimeHarness) -> None:
        """Neither is an end of the agent's own; an agent that never was can be deleted."""
        spec = await harness.started()
        await harness.runtime.stop(spec.agent_id)
        await harness.runtime.stop(spec.agent_id)
        assert not harness.runtime.is_running(spec.agent_id)
        await harness.runtime.delete(spec)
        await harness.runtime.delete(spec)
        await harness.runtime.delete(await harness.new_spec("nobody"))
        assert harness.listener.ends == []

    async def test_metadata_never_fails(self, harness: RuntimeHarness) -> None:
        """Not even for an agent that is not there."""
        spec = await harness.started()
        assert await harness.runtime.metadata(spec) == {}
        assert await harness.runtime.metadata(await harness.new_spec("nobody")) == {}

    async def test_an_update_that_nobody_knows_is_an_event(self, harness: RuntimeHarness) -> None:
        """It is in the log, and the task goes on."""
        spec = await harness.started()
        assert await harness.run(spec, "/unknown surprise", "/say on") is StopReason.END_TURN
        events = harness.listener.events[spec.agent_id]
        assert any(isinstance(e, Noticed) and "surprise" in e.text for e in events)
        assert harness.listener.said(spec.agent_id) == "on"

    async def test_events_of_two_agents_do_not_mix(self, harness: RuntimeHarness) -> None:
        """Each agent's events carry its own id, and both work at the same time."""
        one, other = await harness.started("one"), await harness.started("other")
        harness.listener.hold_answers()
        tasks = [harness.begin(one, "/ask 1", "/say one"), harness.begin(other, "/ask 2", "/say 2")]
        await harness.listener.until(lambda: len(harness.listener.questions) == len(tasks))
        harness.listener.release_answers()
        await asyncio.gather(*tasks)
        said = [harness.listener.said(spec.agent_id) for spec in (one, other)]
        assert [text.removeprefix("permission: allow-once").strip() for text in said] == [
            "one",
            "2",
        ]

    async def test_an_agent_has_one_task_at_a_time(self, harness: RuntimeHarness) -> None:
        """A second one is refused, and does not disturb the first."""
        spec = await harness.started()
        harness.listener.hold_answers()
        task = harness.begin(spec, "/ask anything")
        await harness.listener.until(lambda: bool(harness.listener.questions))
        assert isinstance(await harness.failure(harness.run(spec, "/say me too")), AgentBusy)
        harness.listener.release_answers()
        assert await task is StopReason.END_TURN

    async def test_who_stops_waiting_does_not_stop_the_agent(self, harness: RuntimeHarness) -> None:
        """The task goes on, and its events are heard."""
        spec = await harness.started()
        harness.listener.hold_answers()
        task = harness.begin(spec, "/ask anything", "/say still here")
        await harness.listener.until(lambda: bool(harness.listener.questions))
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        harness.listener.release_answers()
        await harness.listener.until(
            lambda: harness.listener.said(spec.agent_id).endswith("still here")
        )
        assert harness.runtime.is_running(spec.agent_id)

    async def test_closing_the_runtime_leaves_nothing_running(
        self, harness: RuntimeHarness
    ) -> None:
        """Neither idle nor busy agents, and nobody is told that they crashed."""
        idle, busy = await harness.started("idle"), await harness.started("busy")
        task = harness.begin(busy, "/say begun", "/hang")
        await harness.listener.until(lambda: harness.listener.said(busy.agent_id) == "begun")
        await harness.runtime.close()
        with suppress(AgentFailed):
            assert await task is StopReason.CANCELLED
        assert not harness.runtime.is_running(idle.agent_id)
        assert not harness.runtime.is_running(busy.agent_id)
        assert list(harness.left_running()) == []
        assert harness.listener.ends == []
