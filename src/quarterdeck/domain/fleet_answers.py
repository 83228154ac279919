"""What the fleet's tools answer, field by field as their contract names them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import Field, WithJsonSchema

from quarterdeck.domain.agents import AgentStatus
from quarterdeck.domain.answer import SnakeAnswer
from quarterdeck.domain.json import JsonValue
from quarterdeck.domain.tasks import TaskState, Usage
from quarterdeck.domain.workspaces import ChangedFile, Commit


def _is_none(value: object) -> bool:
    return value is None


def ours() -> Any:  # noqa: ANN401 - as pydantic's own Field does
    """Return a field that the contract does not know: left out while there is nothing to say."""
    return Field(default=None, exclude_if=_is_none)


class FleetAnswer(SnakeAnswer):
    """Base of the fleet's answers, whose contract shows null where there is nothing."""

    keeps_nulls: ClassVar[bool] = True


class OpenQuestion(FleetAnswer):
    """A question that an agent waits with."""

    question_id: str
    title: str
    deadline: datetime


class AgentRow(FleetAnswer):
    """One agent in a list; `metadata` has the values of the fields meant for lists."""

    name: str
    status: AgentStatus
    role: str
    project: str
    last_task: str | None
    created_at: datetime
    updated_at: datetime
    workspace_id: str
    metadata_count: int
    metadata: Mapping[str, JsonValue]
    metadata_skipped: bool | None = ours()
    last_report: str | None = ours()
    waiting_for: OpenQuestion | None = ours()
    unavailable: str | None = ours()
    reason: str | None = ours()
    usage: Usage | None = ours()


class FieldSchema(FleetAnswer):
    """What a metadata field says of itself."""

    description: str
    include_in_list: bool


_ANY_JSON = ["string", "number", "boolean", "object", "array", "null"]
Shown = Annotated[JsonValue, WithJsonSchema({"anyOf": [{"type": kind} for kind in _ANY_JSON]})]


class FieldDetail(FleetAnswer):
    """One metadata field; one that failed has no value and says why."""

    value: Shown
    error: str | None
    field_schema: FieldSchema = Field(alias="schema")


class AgentDetail(AgentRow):
    """One agent with all that is known of it."""

    metadata: Mapping[str, FieldDetail]  # pyright: ignore[reportIncompatibleVariableOverride] - the contract shows more here, under the same name
    runtime: str
    branch: str | None = ours()
    workspace: str | None = ours()


class ListAgentsResponse(FleetAnswer):
    """The agents, newest first."""

    agents: list[AgentRow]
    total_count: int


class ShowAgentResponse(FleetAnswer):
    """One agent."""

    agent: AgentDetail


class CreateAgentResponse(FleetAnswer):
    """The agent is on its way; its first task is sent once it is ready."""

    agent: AgentDetail
    message: str


class DeleteAgentResponse(FleetAnswer):
    """The deletion is accepted, and the name is free."""

    agent_name: str
    workspace_id: str
    message: str
    status: AgentStatus
    saved_branch: str | None = ours()
    saved_folder: str | None = ours()


class RestartAgentResponse(FleetAnswer):
    """The agent is on its way again."""

    agent_name: str
    workspace_id: str
    status: AgentStatus
    message: str


class TaskInfo(FleetAnswer):
    """A task as it was taken on."""

    message: str
    created_at: datetime
    task_id: str | None = ours()
    state: TaskState | None = ours()


class StartAgentTaskResponse(FleetAnswer):
    """The task is the agent's, or waits behind the one it has."""

    agent_name: str
    task: TaskInfo
    message: str


class CancelAgentTaskResponse(FleetAnswer):
    """The agent was told to stop; `stopped` says that it was seen to."""

    agent_name: str
    message: str
    interrupt_sent: bool
    stopped: bool


class TaskDetail(FleetAnswer):
    """One task and what came of it."""

    message: str
    uri: str | None
    needs_user_attention: bool
    created_at: datetime
    task_id: str | None = ours()
    state: TaskState | None = ours()
    started_at: datetime | None = ours()
    ended_at: datetime | None = ours()
    result: str | None = ours()
    verdict: str | None = ours()
    branch: str | None = ours()
    commits: list[str] | None = ours()
    files: list[str] | None = ours()
    usage: Usage | None = ours()


class Paged(FleetAnswer):
    """Base of what comes by pages, newest first."""

    agent_name: str
    total_count: int
    page: int
    page_size: int
    has_next_page: bool
    has_previous_page: bool


class ShowAgentTaskHistoryResponse(Paged):
    """The tasks that an agent was given."""

    tasks: list[TaskDetail]


class LogEntryDetail(FleetAnswer):
    """One entry of an agent's log."""

    timestamp: datetime
    message: str
    level: str
    role: str | None = ours()
    kind: str | None = ours()
    seq: int | None = ours()


class ShowAgentLogResponse(Paged):
    """What an agent said and did; `archived_count` are older entries, kept in files."""

    logs: list[LogEntryDetail]
    archived_count: int | None = ours()


class AgentState(FleetAnswer):
    """Where one agent stands."""

    name: str
    status: AgentStatus
    last_task: str | None
    task_state: TaskState | None = ours()
    last_report: str | None = ours()
    waiting_for: OpenQuestion | None = ours()
    reason: str | None = ours()


class WaitForAgentResponse(FleetAnswer):
    """Where the agents stand now."""

    agents: list[AgentState]
    timed_out: bool
    message: str


class ShowAgentDiffResponse(FleetAnswer):
    """What an agent changed; the patch comes by pages."""

    agent_name: str
    branch: str | None
    base: str | None
    head: str | None
    commits: list[Commit]
    files: list[ChangedFile]
    patch: str
    page: int
    total_pages: int
    has_next_page: bool
    truncated: bool
    reason: str | None = ours()


class OptionRow(FleetAnswer):
    """One of the answers to choose from."""

    option_id: str
    name: str
    kind: str


class QuestionRow(FleetAnswer):
    """A question, and its answer if it has one."""

    question_id: str
    agent_name: str
    title: str
    tool_kind: str
    paths: list[str]
    options: list[OptionRow]
    default_option_id: str | None
    asked_at: datetime
    deadline: datetime
    state: str
    task: str | None = ours()
    answer_option_id: str | None = ours()
    answered_by: str | None = ours()
    answered_at: datetime | None = ours()


class QuestionListResponse(FleetAnswer):
    """The questions that wait, oldest first."""

    questions: list[QuestionRow]
    total_count: int


class QuestionAnswerResponse(FleetAnswer):
    """The question, with the answer that the agent was given."""

    question: QuestionRow
    message: str


class MergeAgentResponse(FleetAnswer):
    """The work of an agent is in another branch now."""

    agent_name: str
    branch: str
    into: str
    commit: str
    message: str


class PushAgentResponse(FleetAnswer):
    """The branch of an agent is in a remote repository now."""

    agent_name: str
    remote: str
    branch: str
    commit: str
    message: str
