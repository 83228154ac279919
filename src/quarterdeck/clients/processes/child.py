"""One agent process, as the daemon sees it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from quarterdeck.clients.processes.life import Life, Start
from quarterdeck.clients.processes.stdio import Stdio
from quarterdeck.clients.processes.table import all_processes, since_epoch


class CannotStart(Exception):
    """A command could not be started: it is not there, not a program, or has no such folder."""

    def __init__(self, command: Sequence[str], reason: str) -> None:
        super().__init__(f"Cannot start {' '.join(command[:1])!r}: {reason}")
        self.command = tuple(command)
        self.reason = reason


class Child:
    """Whoever has it calls `end`, also when it ended by itself: others of it may be left."""

    def __init__(
        self,
        life: Life,
        start: Start,
        stdio: Stdio,
        *,
        end: Callable[[Life, float], Awaitable[None]],
    ) -> None:
        self.pid = start.pid
        self.created = since_epoch(start.started)
        self.stdin = stdio.stdin
        self.stdout = stdio.stdout
        self._life = life
        self._stdio = stdio
        self._end = end

    @property
    def is_lost(self) -> bool:
        """Whether its end was not seen, because the keeper was killed."""
        return self._life.is_lost

    def descendants(self) -> set[int]:
        """Return its process ids, its own included; none once it has ended.

        What left its parent is not among them, though it ends with the agent. A look at all
        processes of the machine: take one `table.all_processes()` for many agents.
        """
        return set() if self._life.exited.done() else all_processes().family({self.pid})

    async def wait(self) -> int:
        """Return its exit code, or the negative number of the signal that ended it."""
        return await asyncio.shield(self._life.exited)

    async def end(self, *, grace: float) -> None:
        """Close its stdin, ask it and its descendants to end, and kill them after `grace` seconds.

        Nothing of it is left afterwards, not even what took a session of its own. Not found is
        who left its parent and hid its mark before, or forks faster than we look: those end
        with the keeper.
        """
        self.stdin.close()
        await self._end(self._life, grace)
        await self._stdio.close()
