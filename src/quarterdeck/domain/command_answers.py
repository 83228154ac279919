"""What the command line is answered where no tool of a model would be."""

from quarterdeck.domain.agents import AgentStatus
from quarterdeck.domain.fleet_answers import FleetAnswer, LogEntryDetail, QuestionRow, ours
from quarterdeck.domain.tasks import TaskState, Usage


class FollowAgentLogResponse(FleetAnswer):
    """What was added to a log, oldest first, and where the agent stands.

    `seq` and `offset` say how far it goes: to that entry, and how much of it. Of an entry that
    went on since there is only what is new. `has_more` means that the log goes further than one
    answer does. `state` changes with the status and the question.
    """

    agent_name: str
    status: AgentStatus
    state: str
    logs: list[LogEntryDetail]
    seq: int
    offset: int
    has_more: bool
    task_id: str | None = ours()
    task_state: TaskState | None = ours()
    reason: str | None = ours()
    question: QuestionRow | None = ours()


class UsageRow(FleetAnswer):
    """What one agent used on one day, in UTC."""

    day: str
    agent_name: str
    usage: Usage


class ShowUsageResponse(FleetAnswer):
    """Tokens and cost as agents reported them, newest day first."""

    rows: list[UsageRow]
    total: Usage


class KeptFolder(FleetAnswer):
    """A folder that belongs to no agent and stays, because there is work in it."""

    path: str
    reason: str


class CleanResponse(FleetAnswer):
    """What was removed, or would be; `kept` is for a person to look at."""

    agents: list[str]
    folders: list[str]
    kept: list[KeptFolder]
    freed_bytes: int
    dry_run: bool
