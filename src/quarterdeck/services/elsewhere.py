"""Commands for agents that another process runs: asked through the database both share."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import TypeVar

from quarterdeck.domain.agents import Agent
from quarterdeck.domain.answer import Answer
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.json import JsonValue
from quarterdeck.errors import (
    AgentElsewhere,
    InternalError,
    QuarterdeckError,
    Unavailable,
    error_from,
)
from quarterdeck.ports.fleet import Command, CommandRepository
from quarterdeck.ports.store import Transaction
from quarterdeck.services.calls import Call, Calls, current_frame
from quarterdeck.services.fleet import Fleet

logger = logging.getLogger(__name__)

A = TypeVar("A", bound=Answer)
Handler = Callable[[Mapping[str, JsonValue]], Awaitable[Answer]]

ANSWER_SECONDS = 40.0
POLL_SECONDS = 0.25
# A command is taken up within moments, or nobody is there to take it.
TAKEN_SECONDS = 5.0


class Elsewhere:
    """Asks other processes, and does what they ask of this one."""

    def __init__(self, fleet: Fleet, commands: CommandRepository, calls: Calls) -> None:
        """`handlers` are given before the first command is taken."""
        self._fleet = fleet
        self.commands = commands
        self._calls = calls
        self._store = fleet.operations.store
        self.handlers: Mapping[str, Handler] = {}

    async def ask(
        self, agent: Agent, name: str, arguments: Mapping[str, JsonValue], answer: type[A]
    ) -> A:
        """Have the process that runs `agent` carry out a command, and return its answer.

        Raises:
            AgentElsewhere: It did not answer in time; it names the host, and when it was seen.
        """
        clock, actor = self._fleet.operations.clock, current_frame().call.actor
        command = Command(
            id=new_id(clock.now()),
            to_daemon=agent.daemon_id,
            name=name,
            arguments=json.dumps({"arguments": arguments, "actor": actor}),
            asked_at=clock.now(),
            deadline=clock.now() + timedelta(seconds=ANSWER_SECONDS),
        )

        def ask(tx: Transaction) -> None:
            self._fleet.owner(tx, agent)
            self.commands.add(tx, command)

        await self._store.write(ask)
        try:
            return answer.model_validate_json(await self._answer(agent, command))
        finally:
            await self._store.write(lambda tx: self.commands.remove(tx, command.id))

    async def serve(self) -> None:
        """Do what others ask, until cancelled."""
        daemon_id = self._fleet.here.daemon_id
        while True:
            try:
                waiting = await self._store.read(lambda tx: self.commands.waiting(tx, daemon_id))
                for command in waiting:
                    await self._take(command)
            except Unavailable:
                logger.warning("Cannot look for commands of other processes", exc_info=True)
            await asyncio.sleep(POLL_SECONDS)

    async def _answer(self, agent: Agent, command: Command) -> str:
        waited = 0.0
        while waited < ANSWER_SECONDS:
            await asyncio.sleep(POLL_SECONDS)
            waited += POLL_SECONDS
            found = await self._store.read(lambda tx: self.commands.find(tx, command.id))
            if found is None or (found.taken_at is None and waited > TAKEN_SECONDS):
                break
            if found.error is not None:
                raise error_from(json.loads(found.error))
            if found.answer is not None:
                return found.answer
        raise await self._store.read(lambda tx: self._silent(tx, agent))

    def _silent(self, tx: Transaction, agent: Agent) -> AgentElsewhere:
        daemon = self._fleet.here.daemons.find(tx, agent.daemon_id)
        if daemon is None:
            return AgentElsewhere(agent.name, "another machine", "long ago")
        return AgentElsewhere(agent.name, daemon.host, daemon.seen_at.isoformat())

    async def _take(self, command: Command) -> None:
        now = self._fleet.operations.clock.now()
        if not await self._store.write(lambda tx: self.commands.take(tx, command.id, now)):
            return
        self._fleet.crew.spawn(self._carry_out(command))

    async def _carry_out(self, command: Command) -> None:
        asked = json.loads(command.arguments)
        call = Call(
            surface="daemon",
            name=f"daemon.{command.name}",
            input=asked["arguments"],
            actor=asked["actor"],
        )
        answer = error = None
        try:
            handler = self.handlers[command.name]
            done = await self._calls.serve(call, lambda: handler(asked["arguments"]))
            answer = done.model_dump_json()
        except QuarterdeckError as refused:
            error = json.dumps(refused.body()["error"])
        except Exception:  # whoever asked waits for an answer
            logger.exception("Could not carry out %r for another process", command.name)
            error = json.dumps(InternalError().body()["error"])
        await self._store.write(lambda tx: self.commands.finish(tx, command.id, answer, error))
