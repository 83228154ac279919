"""Opening a session with an agent: the handshake, the conversation so far, mode and model."""

import asyncio
from collections.abc import Awaitable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from quarterdeck import __version__
from quarterdeck.clients.acp.agent import AcpAgent, McpServer, Session, WrongVersion
from quarterdeck.clients.acp.errors import AUTH_REQUIRED, RpcError
from quarterdeck.errors import AgentFailed
from quarterdeck.ports.runtime import AgentSpec
from quarterdeck.repositories.runtimes.patience import Patience
from quarterdeck.repositories.runtimes.stderr_log import StderrLog

T = TypeVar("T")


class Host(Protocol):
    """Where the agent lives."""

    @property
    def stderr(self) -> StderrLog: ...

    def muted(self) -> AbstractContextManager[None]: ...

    async def warn(self, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Opened:
    session: Session
    resumed: bool


class Opening:
    """Leads an agent from its start to where it can be given a task."""

    def __init__(self, agent: AcpAgent, spec: AgentSpec, patience: Patience, host: Host) -> None:
        self._agent = agent
        self._spec = spec
        self._patience = patience
        self._host = host

    async def open(self) -> Opened:
        """Return a session, the earlier one if that can be."""
        await self._shake_hands()
        opened = await self._resumed() or Opened(await self._new_session(), resumed=False)
        await self._choose(opened.session, "mode", self._spec.role.mode)
        await self._choose(opened.session, "model", self._spec.role.model)
        return opened

    async def _shake_hands(self) -> None:
        seconds = self._patience.handshake_seconds
        try:
            await self._in_time(
                self._agent.initialize("quarterdeck", __version__), seconds, "the handshake"
            )
        except WrongVersion as error:
            raise self._failed(str(error)) from error
        if self._spec.endpoint and not self._agent.capabilities.http_mcp:
            await self._host.warn(
                "It takes no MCP servers over HTTP, so it has no tools of Quarterdeck"
            )

    async def _resumed(self) -> Opened | None:
        conversation = self._spec.conversation
        if not conversation or not self._spec.role.resume:
            return None
        if not self._can_resume():
            await self._host.warn("It cannot go on with its conversation, and begins a new one")
            return None
        try:
            # What it tells of the conversation so far is not news.
            with self._host.muted():
                return Opened(await self._load(conversation), resumed=True)
        except (RpcError, TimeoutError) as error:
            why = error.words if isinstance(error, RpcError) else "no answer"
            await self._host.warn(f"It could not go on with its conversation: {why}")
            return None

    def _can_resume(self) -> bool:
        role, offered = self._spec.role, self._agent.capabilities
        works = role.known is None or role.known.loads_sessions
        return works and (offered.loads or offered.resumes)

    async def _load(self, conversation: str) -> Session:
        cwd, servers = self._spec.workspace.path, self._servers()
        loading = self._agent.load_session(conversation, cwd, servers, self._meta())
        return await asyncio.wait_for(loading, self._patience.session_seconds)

    async def _new_session(self) -> Session:
        cwd, servers = self._spec.workspace.path, self._servers()
        opening = self._agent.new_session(cwd, servers, self._meta())
        return await self._in_time(
            opening, self._patience.session_seconds, "the request for a session"
        )

    async def _choose(self, session: Session, category: str, value: str | None) -> None:
        if value is None:
            return
        fitting = [one for one in session.choices if category in {one.category, one.option}]
        for choice in fitting:
            if value in choice.values:
                choosing = self._agent.choose(session, choice, value)
                await self._in_time(
                    choosing, self._patience.session_seconds, f"the choice of a {category}"
                )
                return
        offered = ", ".join(dict.fromkeys(v for choice in fitting for v in choice.values)) or "none"
        raise self._failed(
            f"it has no {category} {value!r}",
            hint=f"change the role's {category}; the agent offers: {offered}",
        )

    async def _in_time(self, work: Awaitable[T], seconds: float, about: str) -> T:
        try:
            return await asyncio.wait_for(work, seconds)
        except TimeoutError as error:
            why = f"no answer to {about} within {seconds:g} s"
            raise self._failed(self._host.stderr.with_last_words(why)) from error
        except RpcError as error:
            why = self._host.stderr.with_last_words(error.words)
            raise self._failed(why, hint=self._hint(error)) from error

    def _hint(self, error: RpcError) -> str | None:
        known = self._spec.role.known
        if known is None or not known.credentials:
            return None
        is_named = any(name in error.words for name in known.credentials)
        if error.code != AUTH_REQUIRED and not is_named:
            return None
        names = " or ".join(known.credentials)
        return f"put {names} into the file 'env' of $QUARTERDECK_HOME, then restart the agent"

    def _meta(self) -> dict[str, Any]:
        known, prompt = self._spec.role.known, self._spec.role.system_prompt
        meta: dict[str, Any] = dict(known.session_meta) if known else {}
        if known and known.instructions_meta and prompt:
            value: Any = prompt
            for step in reversed(known.instructions_meta):
                value = {step: value}
            meta |= value
        return meta

    def _servers(self) -> list[McpServer]:
        endpoint = self._spec.endpoint
        if endpoint is None:
            return []
        headers = {"Authorization": f"Bearer {endpoint.token}"}
        return [McpServer("quarterdeck", endpoint.url, headers)]

    def _failed(self, why: str, *, hint: str | None = None) -> AgentFailed:
        return AgentFailed(self._spec.name, why, hint=hint)
