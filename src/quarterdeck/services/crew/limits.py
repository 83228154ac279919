"""How far a task has gone, and which limit of its role it has reached."""

from collections.abc import Callable
from dataclasses import dataclass, field

from quarterdeck.domain.agent_events import AgentEvent, Spent, UsedTool
from quarterdeck.domain.roles import Limits

MICROSECONDS_A_MINUTE = 60_000_000
# Sums of money differ by less, in whichever order they were added up.
SMALLEST_COST = 1e-6


@dataclass
class Meter:
    """Counts one task against its limits; time spent waiting for a person does not count."""

    limits: Limits
    ticks_us: Callable[[], int]
    cost_before: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    currency: str | None = None
    _calls: set[str] = field(default_factory=set[str])
    _started_us: int = 0
    _paused_us: int = 0
    _paused_at_us: int | None = None

    def __post_init__(self) -> None:
        """Start the clock."""
        self._started_us = self.ticks_us()

    def note(self, event: AgentEvent) -> None:
        """Count an event."""
        match event:
            case UsedTool(call_id=call_id):
                self._calls.add(call_id)
            case Spent():
                self._note_spending(event)
            case _:
                pass

    def pause(self) -> None:
        """Stop the clock while a question is open."""
        if self._paused_at_us is None:
            self._paused_at_us = self.ticks_us()

    def go_on(self) -> None:
        """Start the clock again."""
        if self._paused_at_us is not None:
            self._paused_us += self.ticks_us() - self._paused_at_us
            self._paused_at_us = None

    def reached(self) -> str | None:
        """Return which limit was reached, in words, or `None`."""
        limits = self.limits
        if limits.turns is not None and len(self._calls) > limits.turns:
            return f"more than {limits.turns} tool calls"
        if limits.tokens is not None and self.tokens > limits.tokens:
            return f"more than {limits.tokens} tokens"
        if limits.cost is not None and self.cost > limits.cost:
            return f"a cost of more than {limits.cost:g}"
        if limits.minutes is not None and self.seconds_left() <= 0:
            return f"more than {limits.minutes:g} minutes"
        return None

    def seconds_left(self) -> float:
        """Return how much time is left; without a limit, or while paused, a day."""
        if self.limits.minutes is None or self._paused_at_us is not None:
            return 86_400.0
        spent_us = self.ticks_us() - self._started_us - self._paused_us
        return (self.limits.minutes * MICROSECONDS_A_MINUTE - spent_us) / 1_000_000

    def _note_spending(self, spent: Spent) -> None:
        if spent.cost is not None:
            if spent.cost < self.cost_before - SMALLEST_COST:
                self.cost_before = 0.0  # the agent counts from nothing again
            self.cost = max(self.cost, spent.cost - self.cost_before)
            self.currency = spent.currency or self.currency
        if spent.context_used is not None:
            self.tokens = max(self.tokens, spent.context_used)
