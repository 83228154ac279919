"""Old entries of agents' logs, in compressed files of the home."""

import gzip
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from quarterdeck.domain.agent_log import LogEntry


class AgentLogFiles:
    """Implements `LogArchive`: one file of JSON lines each time, named by what it holds."""

    def __init__(self, home: Path) -> None:
        """Files are kept under `home/logs/agents`."""
        self._folder = home / "logs" / "agents"

    def put(self, agent_id: str, entries: Sequence[LogEntry]) -> None:
        """Keep entries, oldest first; keeping the same ones again changes nothing."""
        folder = self._of(agent_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{entries[0].seq:012}-{entries[-1].seq:012}.jsonl.gz"
        draft = path.with_suffix(".draft")
        with draft.open("wb") as file:
            with gzip.open(file, "wt", encoding="utf-8") as text:
                text.writelines(f"{_line(entry)}\n" for entry in entries)
            file.flush()
            # They leave the database next: this must be on the disk before.
            os.fsync(file.fileno())
        draft.replace(path)

    def remove(self, agent_id: str) -> None:
        """Forget all that is kept of an agent; safe to repeat."""
        shutil.rmtree(self._of(agent_id), ignore_errors=True)

    def _of(self, agent_id: str) -> Path:
        return self._folder / agent_id


def _line(entry: LogEntry) -> str:
    return json.dumps(
        {
            "seq": entry.seq,
            "timestamp": entry.at.isoformat(),
            "level": entry.level.value,
            "role": entry.role.value,
            "kind": entry.kind.value,
            "task_id": entry.task_id,
            "message": entry.message,
        },
        ensure_ascii=False,
    )
