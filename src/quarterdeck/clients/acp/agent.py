"""What a client asks of an agent, in the protocol's own words.

Importing this loads the protocol's schema, which takes more than half a second.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION
from acp.meta import AGENT_METHODS
from acp.schema import (
    CancelNotification,
    ClientCapabilities,
    CloseSessionRequest,
    HttpHeader,
    HttpMcpServer,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    ResumeSessionRequest,
    SessionConfigOptionSelect,
    SessionConfigSelectGroup,
    SetSessionConfigOptionSelectRequest,
    SetSessionModeRequest,
    TextContentBlock,
)
from pydantic import BaseModel, Field, ValidationError

from quarterdeck.clients.acp.connection import Connection, Message
from quarterdeck.clients.acp.errors import INTERNAL_ERROR, RpcError

M = TypeVar("M", bound=BaseModel)

# From before models were config options: some agents know only this, and the schema no more.
SET_MODEL = "session/set_model"


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server that an agent is to use, over HTTP."""

    name: str
    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Capabilities:
    loads: bool = False
    resumes: bool = False
    closes: bool = False
    http_mcp: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """What can be set in a session, and to which values; without an `option` by its own method."""

    option: str | None
    values: tuple[str, ...]
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    choices: tuple[Choice, ...] = ()


class WrongVersion(Exception):
    """The agent speaks another version of the protocol."""

    def __init__(self, version: int) -> None:
        super().__init__(f"it speaks version {version} of the protocol, not {PROTOCOL_VERSION}")


class _Model(BaseModel):
    id: str = Field(alias="modelId")


class _Models(BaseModel):
    available: list[_Model] = Field(alias="availableModels")


class _OlderAnswer(BaseModel):
    models: _Models


class AcpAgent:
    """An agent at the other end of a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.capabilities = Capabilities()

    async def initialize(self, name: str, version: str) -> Capabilities:
        """Shake hands; we offer neither files nor terminals, because agents have their own."""
        request = InitializeRequest(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(),
            client_info=Implementation(name=name, version=version),
        )
        response = _checked(InitializeResponse, await self._ask("initialize", request))
        if response.protocol_version != PROTOCOL_VERSION:
            raise WrongVersion(response.protocol_version)
        self.capabilities = _capabilities(response)
        return self.capabilities

    async def new_session(
        self, cwd: str, servers: Sequence[McpServer], meta: Mapping[str, Any]
    ) -> Session:
        request = NewSessionRequest(
            cwd=cwd, mcp_servers=self._usable(servers), field_meta=dict(meta) or None
        )
        answer = await self._ask("session_new", request)
        response = _checked(NewSessionResponse, answer)
        return Session(response.session_id, (*_choices(response), _models(answer)))

    async def load_session(
        self, session_id: str, cwd: str, servers: Sequence[McpServer], meta: Mapping[str, Any]
    ) -> Session:
        """Go on with a session of an earlier process; the agent may tell all of it again."""
        model = LoadSessionRequest if self.capabilities.loads else ResumeSessionRequest
        request = model(
            session_id=session_id,
            cwd=cwd,
            mcp_servers=self._usable(servers),
            field_meta=dict(meta) or None,
        )
        method = "session_load" if self.capabilities.loads else "session_resume"
        answer = await self._ask(method, request)
        response = _checked(LoadSessionResponse, answer)
        return Session(session_id, (*_choices(response), _models(answer)))

    async def choose(self, session: Session, choice: Choice, value: str) -> None:
        """Set a mode, a model or whatever else a session offers."""
        if choice.option is None and choice.category == "model":
            model = {"sessionId": session.id, "modelId": value}
            await self._connection.request(SET_MODEL, model)
            return
        if choice.option is None:
            mode = SetSessionModeRequest(session_id=session.id, mode_id=value)
            await self._ask("session_set_mode", mode)
            return
        option = SetSessionConfigOptionSelectRequest(
            session_id=session.id, config_id=choice.option, value=value
        )
        await self._ask("session_set_config_option", option)

    def begin_prompt(self, session: Session, text: str) -> asyncio.Future[Message]:
        """Send a prompt at once; its answer has a stop reason and perhaps usage."""
        request = PromptRequest(
            session_id=session.id, prompt=[TextContentBlock(type="text", text=text)]
        )
        return self._connection.begin(AGENT_METHODS["session_prompt"], _wire(request))

    async def cancel(self, session: Session) -> None:
        """Ask for the end of the turn; questions that are open are withdrawn, as is required."""
        notification = CancelNotification(session_id=session.id)
        await self._connection.notify(AGENT_METHODS["session_cancel"], _wire(notification))
        self._connection.withdraw()

    async def close_session(self, session: Session) -> None:
        if self.capabilities.closes:
            await self._ask("session_close", CloseSessionRequest(session_id=session.id))

    async def _ask(self, method: str, request: BaseModel) -> Message:
        return await self._connection.request(AGENT_METHODS[method], _wire(request))

    def _usable(self, servers: Sequence[McpServer]) -> list[Any]:
        if not self.capabilities.http_mcp:
            return []
        return [
            HttpMcpServer(
                type="http",
                name=server.name,
                url=server.url,
                headers=[
                    HttpHeader(name=name, value=value) for name, value in server.headers.items()
                ],
            )
            for server in servers
        ]


def _wire(message: BaseModel) -> Message:
    return message.model_dump(mode="json", by_alias=True, exclude_none=True)


def _checked(model: type[M], answer: Message) -> M:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, wrong["loc"])) for wrong in error.errors())
        raise RpcError(INTERNAL_ERROR, f"the answer has no usable {fields}") from error


def _capabilities(response: InitializeResponse) -> Capabilities:
    offered = response.agent_capabilities
    if offered is None:
        return Capabilities()
    sessions, mcp = offered.session_capabilities, offered.mcp_capabilities
    return Capabilities(
        loads=bool(offered.load_session),
        resumes=sessions is not None and sessions.resume is not None,
        closes=sessions is not None and sessions.close is not None,
        http_mcp=mcp is not None and bool(mcp.http),
    )


def _choices(response: NewSessionResponse | LoadSessionResponse) -> tuple[Choice, ...]:
    modes = [mode.id for mode in response.modes.available_modes] if response.modes else []
    options = response.config_options or []
    selects = [option for option in options if isinstance(option, SessionConfigOptionSelect)]
    return (Choice(None, tuple(modes), "mode"), *map(_choice, selects))


def _models(answer: Message) -> Choice:
    try:
        offered = _OlderAnswer.model_validate(answer).models.available
    except ValidationError:
        offered = []
    return Choice(None, tuple(model.id for model in offered), "model")


def _choice(option: SessionConfigOptionSelect) -> Choice:
    values: list[str] = []
    for entry in option.options:
        members = entry.options if isinstance(entry, SessionConfigSelectGroup) else [entry]
        values += [member.value for member in members]
    category = option.category if isinstance(option.category, str) else None
    return Choice(option.id, tuple(values), category)
