"""Forgetting agents that were deleted long ago, and what nobody owns any more."""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from quarterdeck.domain.agents import Agent, AgentStatus
from quarterdeck.domain.command_answers import CleanResponse, KeptFolder
from quarterdeck.domain.effect import Effect
from quarterdeck.ports.fleet import CommandRepository
from quarterdeck.ports.housekeeping import Folder, Housekeeping
from quarterdeck.ports.store import Transaction
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation

# Whoever asked another daemon for something has given up long before.
COMMAND_AGE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class _Found:
    """Agents that may be forgotten, folders that no agent has, and what they take together."""

    agents: list[Agent]
    folders: list[Folder]
    size: int

    def answer(self, *, dry_run: bool) -> CleanResponse:
        return CleanResponse(
            agents=[agent.name for agent in self.agents],
            folders=[folder.path for folder in self.folders if folder.work is None],
            kept=[
                KeptFolder(path=folder.path, reason=folder.work)
                for folder in self.folders
                if folder.work is not None
            ],
            freed_bytes=self.size,
            dry_run=dry_run,
        )


class CleaningService:
    """Removes what has been kept long enough."""

    def __init__(
        self,
        fleet: Fleet,
        commands: CommandRepository,
        housekeeping: Housekeeping,
        retention: timedelta,
    ) -> None:
        """What is known of a deleted agent is kept for `retention`."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._commands = commands
        self._housekeeping = housekeeping
        self._retention = retention

    @operation("fleet.clean", Effect.DESTROY)
    async def clean(self, _op: Operation, *, older_than: timedelta | None = None) -> CleanResponse:
        """Remove what may go, and say what it was."""
        return await self.run(older_than)

    @operation("fleet.preview_clean", Effect.READ)
    async def preview(
        self, _op: Operation, *, older_than: timedelta | None = None
    ) -> CleanResponse:
        """Say what `clean` would remove."""
        return (await self._find(older_than)).answer(dry_run=True)

    async def run(self, older_than: timedelta | None = None) -> CleanResponse:
        """Do what `clean` does, for nobody in particular."""
        found = await self._find(older_than)
        for folder in found.folders:
            if folder.work is None:
                await asyncio.to_thread(self._housekeeping.remove_folder, folder)
        for agent in found.agents:
            # Its row last: without it, nobody would look for the files again.
            await asyncio.to_thread(self._housekeeping.remove_files, agent.id)
            await self._forget(agent.id)
        before = self.operations.clock.now() - COMMAND_AGE
        await self.operations.store.write(lambda tx: self._commands.prune(tx, before))
        return found.answer(dry_run=False)

    async def _find(self, older_than: timedelta | None) -> _Found:
        # Folders first: an agent is written down before its workspace is made.
        folders = await asyncio.to_thread(self._housekeeping.folders)
        age = self._retention if older_than is None else older_than
        before = self.operations.clock.now() - age
        agents, known, size = await self.operations.store.read(lambda tx: self._look(tx, before))
        orphans = [folder for folder in folders if folder.path not in known]
        size += sum(folder.size for folder in orphans if folder.work is None)
        for agent in agents:
            size += await asyncio.to_thread(self._housekeeping.files_size, agent.id)
        return _Found(agents, orphans, size)

    def _look(self, tx: Transaction, before: datetime) -> tuple[list[Agent], set[str], int]:
        """Return who was deleted long ago, all workspaces there are, and the size of the logs."""
        rows = self._fleet.rows
        deleted = rows.agents.list(tx, AgentStatus.DELETED)
        old = [agent for agent in deleted if self._may_go(agent, before)]
        everybody = (*rows.agents.list(tx), *deleted)
        known = {agent.workspace.path for agent in everybody if agent.workspace}
        return old, known, sum(rows.log.span(tx, agent.id).size for agent in old)

    def _may_go(self, agent: Agent, before: datetime) -> bool:
        # Of an agent of another home, the files are there.
        is_ours = agent.node_id == self._fleet.here.node_id
        return is_ours and agent.deleted_at is not None and agent.deleted_at <= before

    async def _forget(self, agent_id: str) -> None:
        await self.operations.store.write(lambda tx: self._fleet.rows.agents.remove(tx, agent_id))
