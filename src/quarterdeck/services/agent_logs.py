"""What agents said and did."""

from quarterdeck.domain.agent_log import LogEntry
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import LogEntryDetail, ShowAgentLogResponse
from quarterdeck.domain.redaction import Redactor
from quarterdeck.ports.store import Transaction
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation


class AgentLogService:
    """Agents' logs, as they may be shown."""

    def __init__(self, fleet: Fleet, redactor: Redactor) -> None:
        """What looks like a credential is left out by `redactor`."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._redactor = redactor

    @operation("agent.log", Effect.READ)
    async def show(
        self, op: Operation, name: str, *, page: int = 1, page_size: int = 1
    ) -> ShowAgentLogResponse:
        """Return entries of an agent's log, newest first, a page at a time."""

        def look(tx: Transaction) -> ShowAgentLogResponse:
            agent, rows = self._fleet.find_in(tx, name, or_deleted=True), self._fleet.rows.log
            span = rows.span(tx, agent.id)
            last = span.last - (page - 1) * page_size
            first = max(last - page_size + 1, span.first)
            entries = rows.entries(tx, agent.id, first, last)
            return ShowAgentLogResponse(
                agent_name=agent.name,
                logs=[detail_of(entry, self._redactor.text(entry.message)) for entry in entries],
                total_count=span.count,
                page=page,
                page_size=page_size,
                has_next_page=span.count > page * page_size,
                has_previous_page=page > 1,
                archived_count=span.first - 1 if span.first > 1 else None,
            )

        return await op.read(look)


def detail_of(entry: LogEntry, message: str) -> LogEntryDetail:
    """Return an entry as it is shown, with `message` as it may be."""
    return LogEntryDetail(
        timestamp=entry.at,
        message=message,
        level=entry.level.value,
        role=entry.role.value,
        kind=entry.kind.value,
        seq=entry.seq,
    )
