"""Conversations on disk, one file of JSON lines each, written as they happen.

A line more for each event, so that whatever was said before a `kill -9` can be loaded again.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from quarterdeck.testing.scripted_agent.wire import Message


class Conversations:
    """The conversations in a folder; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @property
    def kept(self) -> bool:
        """Whether a later process can load what is said in this one."""
        return self._folder is not None

    def add(self, session_id: str, event: Message) -> None:
        """Append an event to a session's conversation."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._file(self._folder, session_id).open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    def read(self, session_id: str) -> list[Message]:
        """Return a session's events; none if there is no such session."""
        # The id comes from the client and becomes part of a path.
        if self._folder is None or not session_id.isalnum():
            return []
        try:
            lines = self._file(self._folder, session_id).read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        return list(_events(lines))

    def folders(self) -> dict[str, str]:
        """Return the ids of all sessions that can be loaded, and where each of them worked."""
        files = sorted(self._folder.glob("*.jsonl")) if self._folder else []
        return {
            file.stem: event["cwd"]
            for file in files
            for event in self.read(file.stem)
            if "cwd" in event
        }

    @staticmethod
    def _file(folder: Path, session_id: str) -> Path:
        return folder / f"{session_id}.jsonl"


def _events(lines: str) -> Iterator[Message]:
    for line in lines.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue  # the process ended in the middle of this line
