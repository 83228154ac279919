"""Ending processes: asked first, then killed, until a look at the machine finds none of them."""

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from quarterdeck.clients.processes.table import Table, all_processes

LOOK_SECONDS = 0.05

# Those that are to end, as one look at the machine shows them.
Find = Callable[[Table], set[int]]


class Ending:
    """What is to end.

    Whoever was found once stays wanted, with its descendants: when its parent ends, nothing may
    tell any longer whose it was.
    """

    def __init__(self, *, grace: float) -> None:
        self._kill_at = time.monotonic() + grace
        self._wanted: set[tuple[int, float]] = set()
        self._asked: set[tuple[int, float]] = set()
        self._beyond_us: set[tuple[int, float]] = set()
        self.seems_over = False

    @property
    def is_killing(self) -> bool:
        return time.monotonic() >= self._kill_at

    @property
    def is_refused(self) -> bool:
        """Whether somebody is left who is not ours to end."""
        return bool(self._beyond_us)

    def hurry(self, grace: float) -> None:
        self._kill_at = min(self._kill_at, time.monotonic() + grace)

    def step(self, table: Table, found: Iterable[int]) -> bool:
        """Signal whoever is left of `found` and of those before, and return whether nobody is.

        Nobody has to be there twice: one that forks and ends during a look can hide its child.
        """
        left = self._left(table, found)
        for key in left if self.is_killing else left - self._asked:
            self._signal(key, signal.SIGKILL if self.is_killing else signal.SIGTERM)
        self._asked |= left
        seemed_over, self.seems_over = self.seems_over, not left - self._beyond_us
        return seemed_over and self.seems_over

    def _left(self, table: Table, found: Iterable[int]) -> set[tuple[int, float]]:
        known = {pid for pid, started in self._wanted if _is_same(table, pid, started)}
        members = table.family(known.union(found))
        self._wanted = {(pid, table[pid].started) for pid in members if not table[pid].is_zombie}
        return self._wanted - self._beyond_us

    def _signal(self, key: tuple[int, float], number: signal.Signals) -> None:
        try:
            with suppress(ProcessLookupError):
                os.kill(key[0], number)
        except PermissionError:
            # Another user's by now, through sudo or the like: waiting for it would never end.
            self._beyond_us.add(key)


def end_all(find: Find, *, grace: float) -> list[int]:
    """End whoever is found, wait until they are gone, and return who was found first."""
    table = all_processes()
    first = table.family(find(table))
    ending = Ending(grace=grace)
    while first and not ending.step(table, find(table)):
        time.sleep(LOOK_SECONDS)
        table = all_processes()
    return sorted(first)


def _is_same(table: Table, pid: int, started: float) -> bool:
    return pid in table and table[pid].started == started
