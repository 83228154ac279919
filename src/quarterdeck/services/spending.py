"""What the fleet has used, by day and agent."""

from datetime import timedelta
from functools import reduce

from quarterdeck.domain.command_answers import ShowUsageResponse, UsageRow
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.tasks import Usage
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation


class SpendingService:
    """Tokens and cost, as agents reported them."""

    def __init__(self, fleet: Fleet) -> None:
        """What is forgotten with its agent no longer counts."""
        self.operations = fleet.operations
        self._fleet = fleet

    @operation("usage.show", Effect.READ)
    async def show(self, op: Operation, *, days: int) -> ShowUsageResponse:
        """Return what was used on the last days, today included."""
        today = self.operations.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        since = today - timedelta(days=days - 1)
        found = await op.read(lambda tx: self._fleet.rows.tasks.spending(tx, since))
        rows = [
            UsageRow(day=each.day, agent_name=each.agent_name, usage=each.usage)
            for each in found
            if each.usage != Usage()
        ]
        total = reduce(Usage.plus, (row.usage for row in rows), Usage())
        return ShowUsageResponse(rows=rows, total=total)
