"""Processes that own rows: say hello, clean up after those that died, say goodbye."""

import logging

from quarterdeck.ports.presence import Presence
from quarterdeck.ports.repositories import DaemonRepository
from quarterdeck.services.operation import Operations
from quarterdeck.services.traces import TraceService

logger = logging.getLogger(__name__)


class DaemonService:
    """The life of this process, as the other processes of the node see it."""

    def __init__(
        self,
        operations: Operations,
        daemons: DaemonRepository,
        traces: TraceService,
        presence: Presence,
        daemon_id: str,
        host: str,
    ) -> None:
        """`daemon_id` is the id that this process's rows carry, `host` the machine's name."""
        self._store = operations.store
        self._clock = operations.clock
        self._daemons = daemons
        self._traces = traces
        self._presence = presence
        self.daemon_id = daemon_id
        self._host = host

    async def start(self) -> int:
        """Announce this process; close what dead ones of this node left open.

        Processes that are alive, and those of other nodes, are left alone. Return the number
        of traces closed as interrupted.
        """
        self._presence.announce(self.daemon_id)
        node_id, now = self._presence.node_id, self._clock.now()
        others = await self._store.read(lambda tx: self._daemons.list(tx, node_id))
        await self._store.write(
            lambda tx: self._daemons.add(tx, self.daemon_id, node_id, self._host, now)
        )
        gone = [other for other in others if not self._presence.is_alive(other)]
        return sum([await self._bury(daemon_id) for daemon_id in gone])

    async def beat(self) -> None:
        """Let those on other machines see that this process is alive."""
        now = self._clock.now()
        await self._store.write(lambda tx: self._daemons.see(tx, self.daemon_id, now))

    async def stop(self) -> None:
        """Note that this process ends in good order."""
        await self._end(self.daemon_id)

    async def _bury(self, daemon_id: str) -> int:
        interrupted = await self._traces.close_interrupted(daemon_id)
        await self._end(daemon_id)
        if interrupted:
            logger.warning("Closed %d traces that a crash had interrupted", interrupted)
        return interrupted

    async def _end(self, daemon_id: str) -> None:
        await self._store.write(lambda tx: self._daemons.remove(tx, daemon_id))
        self._presence.forget(daemon_id)
