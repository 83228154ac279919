"""What the keeper has told of one process so far."""

import asyncio
import signal
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from quarterdeck.clients.processes.link import Event, Link

if TYPE_CHECKING:
    from quarterdeck.clients.processes.leftovers import Record

T = TypeVar("T")


class Start(NamedTuple):
    pid: int
    started: float


class NotStarted(Exception):
    """The words say why."""


class Life:
    def __init__(self, process_id: str, mark: str) -> None:
        loop = asyncio.get_running_loop()
        self.process_id = process_id
        self.mark = mark
        self.started: asyncio.Future[Start | NotStarted] = loop.create_future()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()
        self.link: Link | None = None
        self.record: Record | None = None
        self.is_lost = False

    def note(self, event: Event) -> None:
        match event["event"]:
            case "started":
                _settle(self.started, Start(event["pid"], event["started"]))
            case "failed":
                _settle(self.started, NotStarted(event["reason"]))
                _settle(self.gone, None)
            case "exited":
                _settle(self.exited, event["code"])
            case _:
                _settle(self.gone, None)

    def note_lost_keeper(self) -> None:
        """The keeper is gone, and so is the process, which was killed if it had not ended."""
        self.is_lost = not self.exited.done()
        _settle(self.started, NotStarted("its keeper ended"))
        _settle(self.exited, -signal.SIGKILL)
        _settle(self.gone, None)


def _settle(future: asyncio.Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)
