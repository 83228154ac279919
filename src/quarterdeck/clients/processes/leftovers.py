"""What tells our agent processes from all others, and ends those that a dead daemon left.

A process is ours if it began with a mark of our node in its environment, or if a record names
its pid and its start since the same boot. A pid alone proves nothing: it is given out again.
Several daemons of one node can be alive at a time, so a mark names the daemon, too.
"""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from quarterdeck.clients.processes.ending import end_all
from quarterdeck.clients.processes.table import Table, boot_id, marks

SWEEP_GRACE_SECONDS = 1.0


class Record(NamedTuple):
    """One agent process, as a file in `run/agents` names it."""

    mark: str
    pid: int
    started: float
    boot: str

    def is_in(self, table: Table) -> bool:
        return self.pid in table and table[self.pid].started == self.started


def owner_of(node: str, daemon: str) -> str:
    """Return what a keeper calls its own, of all that the daemons of a node start."""
    return f"{node}/{daemon}"


def mark_for(owner: str, process_id: str) -> str:
    return f"{owner}:{process_id}"


def write_record(folder: Path, process_id: str, record: Record) -> None:
    # Not waited for until it is on the disk: after a power loss there is nothing to end.
    draft = folder / f".{process_id}.draft"
    draft.write_text(json.dumps(record._asdict()), encoding="utf-8")
    draft.replace(_path(folder, process_id))


def remove_record(folder: Path, process_id: str) -> None:
    _path(folder, process_id).unlink(missing_ok=True)


def sweep(
    folder: Path, node: str, is_alive: Callable[[str], bool] = lambda _daemon: False
) -> list[int]:
    """End what dead daemons of this node left running, and return the pids of that.

    To be called before the first agent starts, from a thread: it waits until they are gone.
    """

    def is_left(mark: str) -> bool:
        its_node, _, daemon = _owner(mark).partition("/")
        return its_node == node and not is_alive(daemon)

    records = {path: _read(path) for path in folder.glob("*.json")}
    ours = {path: found for path, found in records.items() if found and is_left(found.mark)}
    ended = end_marked(is_left, ours.values())
    for path in ours:
        path.unlink(missing_ok=True)
    return ended


def end_marked(is_ours: Callable[[str], bool], records: Iterable[Record]) -> list[int]:
    """End whoever has such a mark or is named by a record, with their descendants."""
    boot = boot_id()
    of_this_boot = [record for record in records if record.boot == boot]

    def find(table: Table) -> set[int]:
        marked = {pid for pid, mark in marks(table.pids).items() if is_ours(mark)}
        recorded = {record.pid for record in of_this_boot if record.is_in(table)}
        # A daemon that was started from inside an agent may carry that agent's mark.
        return (marked | recorded) - table.ancestors(os.getpid())

    return end_all(find, grace=SWEEP_GRACE_SECONDS)


def _read(path: Path) -> Record | None:
    try:
        return Record(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):  # not one of ours, or cut short
        return None


def _owner(mark: str) -> str:
    return mark.rpartition(":")[0]


def _path(folder: Path, process_id: str) -> Path:
    return folder / f"{process_id}.json"
