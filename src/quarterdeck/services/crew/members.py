"""One agent that this process runs."""

import asyncio
from dataclasses import dataclass, field

from quarterdeck.domain.agent_events import AgentEvent, Noticed, Said, Spent
from quarterdeck.domain.roles import Role
from quarterdeck.ports.runtime import AgentRuntime, AgentSpec
from quarterdeck.services.crew.desk import Asker
from quarterdeck.services.crew.limits import Meter
from quarterdeck.services.crew.telling import Telling

# Of what an agent said last, as much is kept as its result can hold.
SAID_LENGTH = 64 * 1024


@dataclass
class Member:
    """What is known of an agent only while it runs."""

    spec: AgentSpec
    runtime: AgentRuntime
    telling: Telling
    # The one thing that starts the agent, works it or ends it; there is never a second.
    job: "asyncio.Task[None] | None" = None
    has_more: bool = False
    # Why its process is gone, if that came to pass while the job was busy.
    lost: str | None = None
    # The task that somebody wants to stop; the next one may have begun by the time they say so.
    unwanted: str | None = None
    failures: int = 0
    cost_so_far: float = 0.0
    # Of the task at hand.
    task_id: str | None = None
    meter: Meter | None = None
    said: str = ""
    said_in: str | None = None
    is_said: bool = False
    stopped_for: str | None = None
    turn_ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def role(self) -> Role:
        """Return the agent's role."""
        return self.spec.role

    @property
    def asker(self) -> Asker:
        """Return who asks when this agent does."""
        return Asker(self.spec.agent_id, self.spec.name, self.task_id, self.role.permission)

    def begin(self, task_id: str, meter: Meter, telling: Telling) -> None:
        """Start on a task."""
        self.task_id, self.meter, self.telling = task_id, meter, telling
        self.said, self.said_in, self.is_said = "", None, False
        self.stopped_for = None
        self.turn_ended = asyncio.Event()

    def end(self) -> None:
        """Be done with a task; what was said stays for its record."""
        self.task_id = self.meter = None
        self.turn_ended.set()

    def hear(self, event: AgentEvent) -> None:
        """Keep the last message, which is the agent's report; all else ends a message."""
        match event:
            case Said(by="agent", is_thought=False, message_id=message_id):
                if self.is_said or message_id != self.said_in:
                    self.said = ""
                self.said = (self.said + event.text)[-SAID_LENGTH:]
                self.said_in, self.is_said = message_id, False
            case Spent() | Noticed():
                pass  # come at any time, in the middle of a sentence too
            case _:
                self.is_said = True
