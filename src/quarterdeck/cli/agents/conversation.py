"""A conversation with an agent: what is heard, what is typed, and whose turn it is."""

import asyncio
from collections import deque
from dataclasses import dataclass

from quarterdeck.cli.agents.said import Printer, spoken
from quarterdeck.cli.fleet import FleetClient, Reply
from quarterdeck.cli.questions import option_lines, option_typed
from quarterdeck.cli.render import printable, remark
from quarterdeck.errors import Conflict, QuarterdeckError

INTERRUPTED = 130
WORKING = frozenset({"pending", "starting", "busy", "canceling", "stopping", "deleting"})


@dataclass(frozen=True, slots=True)
class Heard:
    """News of the agent."""

    answer: Reply


@dataclass(frozen=True, slots=True)
class Typed:
    """A line, or the end of all lines."""

    line: str | None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Ctrl-C."""


Event = Heard | Typed | Interrupted | Exception


class Conversation:
    """Takes one event after the other; `is_live` means that somebody sits at a terminal."""

    def __init__(self, fleet: FleetClient, name: str, *, is_live: bool) -> None:
        self.name = name
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self._fleet = fleet
        self._is_live = is_live
        self._printer = Printer(spoken)
        self._lines: deque[str] = deque()
        self._has_ended = False
        self._is_confirming = False
        self._now: Reply = {}
        self._given: str | None = None
        self._asked: str | None = None
        self._said: set[str] = set()

    async def run(self) -> int:
        """Go on until the user leaves, or a script is done; return the exit code."""
        while True:
            event = await self.events.get()
            if isinstance(event, Exception):
                raise event
            if isinstance(event, Interrupted):
                if not self._offers_to_cancel():
                    return INTERRUPTED
            elif isinstance(event, Typed):
                self._hear_line(event.line)
            else:
                self._show(event.answer)
            await self._take_lines()
            if self._is_over():
                self._printer.end()
                return self._outcome()

    def _hear_line(self, line: str | None) -> None:
        if line is None:
            self._has_ended = True
        elif line.strip():
            self._lines.append(line.strip())

    def _offers_to_cancel(self) -> bool:
        """Ask whether the task is to be canceled; not twice, and not if there is none."""
        if not self._is_live or self._is_confirming or not self._is_working:
            return False
        self._printer.end()
        remark(f"Cancel what {self.name} is doing? [y/N] (Ctrl-C again leaves)")
        self._is_confirming = True
        return True

    def _show(self, answer: Reply) -> None:
        self._now = answer
        for entry in answer["logs"]:
            # Whoever typed a task has seen it.
            is_echo = entry["kind"] == "task" and self._is_live and entry["message"] in self._said
            if entry["kind"] != "question" and not is_echo:
                self._printer.show(entry)
        if not self._is_working:
            self._printer.end()
        self._show_question(answer.get("question"))

    def _show_question(self, question: Reply | None) -> None:
        if question is None or question["question_id"] == self._asked:
            return
        self._asked = question["question_id"]
        self._printer.end()
        print(printable(f"? {question['title']}"))
        for line in option_lines(question):
            print(line, flush=True)

    async def _take_lines(self) -> None:
        while self._lines and self._is_their_turn:
            try:
                await self._take(self._lines.popleft())
            except QuarterdeckError as error:
                if not self._is_live:
                    raise
                remark(f"error: {error.message}")

    async def _take(self, line: str) -> None:
        question = self._question
        if self._is_confirming:
            self._is_confirming = False
            if line.lower() in {"y", "yes"}:
                told = await self._fleet.do(
                    "agents.cancel", "cancel_agent_task", agent_name=self.name
                )
                remark(told["message"])
        elif question is not None:
            await self._answer(question, line)
        else:
            await self._give(line)

    async def _answer(self, question: Reply, line: str) -> None:
        option = option_typed(question["options"], line)
        if option is None:
            remark(f"Type a number from 1 to {len(question['options'])}, or the name in brackets")
            return
        question_id = question["question_id"]
        self._now = {**self._now, "question": None}
        await self._fleet.do(
            "questions.answer", "question_answer", question_id=question_id, option_id=option
        )

    async def _give(self, line: str) -> None:
        self._said.add(line)
        told = await self._fleet.do(
            "agents.task",
            "start_agent_task",
            agent_name=self.name,
            task_description=line,
            queue=True,
        )
        self._given = told["task"]["task_id"]
        if self._is_live and told["task"]["state"] == "queued":
            remark(told["message"])

    @property
    def _question(self) -> Reply | None:
        return self._now.get("question")

    @property
    def _is_working(self) -> bool:
        """Say whether something will happen by itself; what is older than our task says nothing."""
        is_old = self._given is not None and self._now.get("task_id") != self._given
        return is_old or self._now.get("status") in WORKING

    @property
    def _is_their_turn(self) -> bool:
        """A person is heard at once; a script when the agent is done, or asks."""
        return bool(self._now) and (
            self._is_live or self._question is not None or not self._is_working
        )

    def _is_over(self) -> bool:
        if not self._has_ended or self._lines or not self._now:
            return False
        return self._is_live or self._question is not None or not self._is_working

    def _outcome(self) -> int:
        if self._is_live:
            return 0
        if self._question is not None:
            remark(f"{self.name} waits for an answer; see 'quarterdeck questions list'")
            return Conflict.exit_code
        has_failed = self._given is not None and self._now.get("task_state") != "done"
        return Conflict.exit_code if has_failed else 0
