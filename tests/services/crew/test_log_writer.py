"""Logs when the disk is full at the worst moment."""

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from quarterdeck.domain.agent_log import LogKind, LogLevel, LogRole
from quarterdeck.repositories.agent_log_files import AgentLogFiles
from quarterdeck.repositories.sql.sqlite import SqliteStore
from quarterdeck.services.crew.log_writer import LogLimits, LogWriter, Voice
from quarterdeck.testing import FixedClock
from tests.support.crews import CrewSite, Sluice, fleet_rows

VOICE = Voice(LogLevel.INFO, LogRole.AGENT, LogKind.MESSAGE)
FEW = LogLimits(entries=4, size=2**20)


@asynccontextmanager
async def running(writer: LogWriter) -> AsyncGenerator[None]:
    run = asyncio.create_task(writer.run())
    try:
        with anyio.fail_after(20):
            yield
    finally:
        run.cancel()
        with suppress(asyncio.CancelledError):
            await run


async def test_a_disk_that_is_full_when_old_entries_move_neither_stops_the_log_nor_loses_any(
    store: SqliteStore, tmp_path: Path
) -> None:
    spec, _ = await CrewSite(store, tmp_path).new_agent("sony", "/say")
    # The first writes the entries; the second removes those that went to a file.
    sluice = Sluice(store, failing=frozenset({2}))
    writer = LogWriter(sluice, fleet_rows().log, AgentLogFiles(tmp_path), FixedClock(), FEW)
    said = [f"entry {number}" for number in range(8)]
    for text in said[:-1]:
        await writer.add(spec.agent_id, VOICE, text)
    async with running(writer):
        await writer.flush(spec.agent_id)
        await writer.add(spec.agent_id, VOICE, said[-1])
        await writer.flush(spec.agent_id)
    kept = await store.read(lambda tx: fleet_rows().log.entries(tx, spec.agent_id, 1, 100))
    moved = archived(tmp_path / "logs" / "agents" / spec.agent_id)
    first = kept[-1].seq
    texts = [moved[seq] for seq in range(1, first)]
    assert texts + [entry.message for entry in reversed(kept)] == said


def archived(folder: Path) -> dict[int, str]:
    texts = [gzip.decompress(file.read_bytes()).decode() for file in folder.glob("*.jsonl.gz")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    return {line["seq"]: line["message"] for line in lines}
