"""Whose a process is: what one look at the machine tells of the agents of a keeper."""

import os
from collections.abc import Iterable

from quarterdeck.clients.processes.spawning import Agent
from quarterdeck.clients.processes.table import Table, marks


class Kin:
    """The processes of each agent, except those that still descend from others of it.

    With a subreaper, whoever lost its parent is the keeper's child, and only there is a session
    a proof: outside, its number may be somebody else's by now.
    """

    def __init__(self, table: Table, agents: Iterable[Agent], *, is_subreaper: bool) -> None:
        self._table = table
        self._by_mark: dict[str, set[int]] = {}
        self._by_session: dict[int, set[int]] = {}
        keeper = os.getpid()
        known = {agent.pid for agent in agents if not agent.has_exited} | {keeper}
        orphans = table.children(keeper) if is_subreaper else table.pids
        for pid, mark in marks(pid for pid in orphans if pid not in known).items():
            self._by_mark.setdefault(mark, set()).add(pid)
        if is_subreaper:
            for pid in table.family({keeper}) - {keeper}:
                self._by_session.setdefault(table[pid].session, set()).add(pid)

    def of(self, agent: Agent) -> set[int]:
        found = set(self._by_mark.get(agent.mark, ()))
        if not agent.has_exited:
            found.add(agent.pid)
        if self._is_still_its_number(agent):
            found |= self._by_session.get(agent.pid, set())
        return found

    def _is_still_its_number(self, agent: Agent) -> bool:
        return agent.pid not in self._table or self._table[agent.pid].started == agent.started
