"""One agent's process, and the conversation with it, from its start to its end.

Importing this loads the protocol's schema: see `local.py`.
"""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

from quarterdeck.clients.acp.agent import AcpAgent, Session
from quarterdeck.clients.acp.connection import Connection, Message
from quarterdeck.clients.acp.errors import METHOD_NOT_FOUND, Disconnected, RpcError
from quarterdeck.clients.processes.child import Child
from quarterdeck.domain.agent_events import AgentEvent, Noticed
from quarterdeck.domain.agent_log import LogLevel
from quarterdeck.domain.tasks import StopReason, TurnEnd
from quarterdeck.errors import AgentBusy, AgentFailed
from quarterdeck.ports.runtime import AgentSpec, RuntimeListener, Started
from quarterdeck.repositories.runtimes.acp_notices import noticed
from quarterdeck.repositories.runtimes.acp_opening import Opening
from quarterdeck.repositories.runtimes.acp_permissions import (
    WITHDRAWN,
    chosen,
    is_refusal,
    permission_request,
)
from quarterdeck.repositories.runtimes.acp_turns import stop_reason, usage
from quarterdeck.repositories.runtimes.acp_updates import Updates
from quarterdeck.repositories.runtimes.patience import Patience
from quarterdeck.repositories.runtimes.stderr_log import StderrLog
from quarterdeck.repositories.runtimes.wire_values import fit, object_at

logger = logging.getLogger(__name__)

OnEnd = Callable[["LocalAgent", str], Awaitable[None]]


class LocalAgent:
    """An agent that runs. `on_end` is told once when it ends by itself."""

    def __init__(
        self,
        spec: AgentSpec,
        child: Child,
        *,
        stderr: StderrLog,
        listener: RuntimeListener,
        patience: Patience,
        on_end: OnEnd,
    ) -> None:
        self.spec = spec
        self.stderr = stderr
        self._child = child
        self._listener = listener
        self._patience = patience
        self._on_end = on_end
        self._connection = Connection(child.stdout, child.stdin, self)
        self._acp = AcpAgent(self._connection)
        self._updates = Updates()
        self._session: Session | None = None
        self._instructions = ""
        self._is_muted = self._is_interrupted = self._has_refused = self._is_stopping = False
        self._turn: asyncio.Task[TurnEnd] | None = None
        self._is_to_end = asyncio.Event()
        # Why it ended; set before anybody is told.
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._connection.serve())
        self._watching = asyncio.create_task(self._watch())

    @property
    def is_ready(self) -> bool:
        return self._session is not None and not self._is_stopping and not self._ended.done()

    async def open(self) -> Started:
        """Shake hands and open a session, or fail with what the agent said."""
        opening = Opening(self._acp, self.spec, self._patience, self)
        try:
            opened = await opening.open()
        except Disconnected as error:
            raise self._failed(await asyncio.shield(self._ended)) from error
        self._session = opened.session
        if not opened.resumed and not self._takes_instructions():
            self._instructions = self.spec.role.system_prompt
        return Started(conversation=opened.session.id, resumed=opened.resumed)

    async def run(self, text: str) -> TurnEnd:
        """Give it a task; a caller that goes away leaves it at work."""
        assert self._session is not None  # nobody has this agent before it is open
        if self._turn and not self._turn.done():
            raise AgentBusy(self.spec.name, None)
        self._is_interrupted = self._has_refused = False
        prompt = f"{self._instructions}\n\n{text}" if self._instructions else text
        self._instructions = ""
        # Sent here and now, so that an interrupt can only come after it.
        answer = self._acp.begin_prompt(self._session, prompt)
        self._turn = asyncio.create_task(self._finish(answer))
        self._turn.add_done_callback(_take_note)
        return await asyncio.shield(self._turn)

    async def interrupt(self) -> None:
        """Ask it to stop what it does; what it has asked for is withdrawn."""
        if self._session and self._turn and not self._turn.done():
            self._is_interrupted = True
            await self._acp.cancel(self._session)

    async def stop(self) -> None:
        """End it, in good order if it goes along, and everything that it has started."""
        self._is_stopping = True
        try:
            with suppress(TimeoutError, Disconnected, RpcError):
                await asyncio.wait_for(self._part(), self._patience.good_order_seconds)
        finally:
            self._is_to_end.set()
        await asyncio.shield(self._watching)

    async def _part(self) -> None:
        await self.interrupt()
        self._connection.withdraw()
        if self._session:
            await self._acp.close_session(self._session)
        self._child.stdin.close()
        known = self.spec.role.known
        if known is None or known.ends_with_stdin:
            await self._child.wait()

    async def notified(self, method: str, params: Message) -> None:
        """Pass on what it tells."""
        if self._is_muted:
            return
        if method == "session/update":
            await self._hear(self._updates.event(object_at(params, "update")))
        else:
            await self._hear(noticed(method, params))

    async def requested(self, method: str, params: Message) -> Message:
        """Answer what it asks; nothing but permission can be asked for."""
        if method != "session/request_permission":
            await self._hear(Noticed(fit(f"Asked for {method}, which is not offered")))
            raise RpcError(METHOD_NOT_FOUND, "Method not found")
        return WITHDRAWN if self._is_interrupted else await self._permission(params)

    async def puzzled(self, problem: str) -> None:
        """Pass on that it wrote what is no message."""
        await self.warn(f"Skipped {problem}")

    async def warn(self, text: str) -> None:
        """Pass on what whoever looks after it should know."""
        await self._hear(Noticed(fit(text), level=LogLevel.WARN))

    async def _permission(self, params: Message) -> dict[str, Any]:
        request = permission_request(params)
        try:
            option_id = await self._listener.asked(self.spec.agent_id, request)
        except asyncio.CancelledError:
            return WITHDRAWN  # nobody wants to know any more, but the protocol wants an answer
        if option_id is None:
            return WITHDRAWN
        self._has_refused |= is_refusal(request, option_id)
        return chosen(option_id)

    async def _finish(self, answer: asyncio.Future[Message]) -> TurnEnd:
        try:
            result = await answer
        except Disconnected as error:
            raise self._failed(await asyncio.shield(self._ended)) from error
        except RpcError as error:
            # Some answer a cancelled prompt with an error.
            if self._is_interrupted:
                return TurnEnd(StopReason.CANCELLED)
            raise self._failed(error.words) from error
        reason = stop_reason(
            result, was_interrupted=self._is_interrupted, was_refused=self._has_refused
        )
        return TurnEnd(reason, usage(result))

    async def _watch(self) -> None:
        """Wait for the end, whoever brings it about, and leave nothing behind."""
        exited = asyncio.create_task(self._child.wait())
        asked = asyncio.create_task(self._is_to_end.wait())
        await asyncio.wait({exited, asked, self._reading}, return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            # An exit and the end of its output come together, unless it left somebody behind.
            await asyncio.wait({exited, self._reading}, timeout=self._patience.last_words_seconds)
        code = exited.result() if exited.done() else None
        await self._child.end(grace=self._patience.signal_seconds)
        exited.cancel()
        asked.cancel()
        await self._stop_reading()
        self._ended.set_result(self._reason(code))
        if not self._is_stopping:
            await self._tell_end()

    async def _tell_end(self) -> None:
        try:
            await self._on_end(self, self._ended.result())
        except Exception:  # whoever is told later stops it still
            logger.exception("Could not take note of the end of an agent")

    async def _stop_reading(self) -> None:
        # Its pipe is closed by now: only whoever listens can make this long.
        await asyncio.wait({self._reading}, timeout=self._patience.hearing_seconds)
        self._reading.cancel()
        try:
            with suppress(asyncio.CancelledError):
                await self._reading
        except Exception:  # its end is news all the same
            logger.exception("Could not read what an agent wrote")

    def _reason(self, code: int | None) -> str:
        if self._is_stopping:
            return "it was stopped"
        how = "its keeper was killed, and it too" if self._child.is_lost else _ending(code)
        return self.stderr.with_last_words(how)

    async def _hear(self, event: AgentEvent) -> None:
        await self._listener.heard(self.spec.agent_id, event)

    @contextmanager
    def muted(self) -> Generator[None]:
        """Pass nothing on for a while."""
        self._is_muted = True
        try:
            yield
        finally:
            self._is_muted = False

    def _takes_instructions(self) -> bool:
        known = self.spec.role.known
        return known is not None and bool(known.instructions_meta)

    def _failed(self, why: str) -> AgentFailed:
        return AgentFailed(self.spec.name, why)


def _ending(code: int | None) -> str:
    if code is None:
        return "it closed its output and was ended"
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"its process was ended by {name}"


def _take_note(turn: asyncio.Task[TurnEnd]) -> None:
    # The caller may be gone, and the error with it.
    if not turn.cancelled():
        turn.exception()
