"""Eight clients that call while their daemon is killed, or replaced in good order."""

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bridge.conftest import Join
from tests.support.bridges import ERAS, Bridge, error_of
from tests.support.servers import QUARTERDECK, environment
from tests.support.workshop_daemons import daemon_process

pytestmark = [pytest.mark.xdist_group("bridge-1"), pytest.mark.timeout(180)]

CLIENTS = 8
KILLS = 3
CALLS_BETWEEN = 3 * CLIENTS


class Writer:
    """One client that stores entry after entry, and notes which were acknowledged."""

    def __init__(self, name: str, client: Bridge, answered: Callable[[], None]) -> None:
        self.name = name
        self.client = client
        self.acknowledged: list[str] = []
        self.unknown: list[str] = []
        self._answered = answered
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Have it store one entry more, and end."""
        self._is_done.set()
        self._thread.join(100)
        assert not self._thread.is_alive(), f"{self.name} waits for an answer"
        if self.failure is not None:
            raise self.failure

    def _write(self) -> None:
        try:
            while not self._is_done.is_set():
                self._store()
            while not self._store():
                pass
        except BaseException as error:  # noqa: BLE001 - raised again where the test sees it
            self.failure = error

    def _store(self) -> bool:
        key = f"{self.name}-{len(self.acknowledged) + len(self.unknown)}"
        number = self.client.start_tool("memory_store", key=key, value={"k": key})
        result = self.client.result(number)
        if result["isError"]:
            error = error_of(result)
            assert error["code"] == "SERVICE_UNAVAILABLE"
            assert error["details"]["outcome"] == "unknown"
            self.unknown.append(key)
        else:
            self.acknowledged.append(key)
        self._answered()
        return not result["isError"]


class Crew:
    """All writers, and a count of what was answered."""

    def __init__(self, clients: list[Bridge]) -> None:
        self._answers = threading.Semaphore(0)
        self.writers = [
            Writer(f"client{number}", client, self._answers.release)
            for number, client in enumerate(clients)
        ]

    def start(self) -> None:
        for writer in self.writers:
            writer.start()

    def await_answers(self, number: int) -> None:
        for _ in range(number):
            assert self._answers.acquire(timeout=60), "the clients have stopped"

    def finish(self) -> None:
        for writer in self.writers:
            writer.finish()

    @property
    def acknowledged(self) -> set[str]:
        return {key for writer in self.writers for key in writer.acknowledged}

    @property
    def unknown(self) -> set[str]:
        return {key for writer in self.writers for key in writer.unknown}


def join_all(join: Join) -> Crew:
    return Crew([join(ERAS[number % len(ERAS)]) for number in range(CLIENTS)])


def stored(client: Bridge) -> set[str]:
    found: set[str] = set()
    page = client.tool("memory_list", limit=100)
    while True:
        found |= {entry["key"] for entry in page["keys"]}
        if not page["hasMore"]:
            return found
        page = client.tool("memory_list", limit=100, cursor=page["nextCursor"])


def test_eight_clients_outlive_the_daemons_that_are_killed_under_them(
    home: Path, join: Join
) -> None:
    crew = join_all(join)
    crew.start()
    for _ in range(KILLS):
        crew.await_answers(CALLS_BETWEEN)
        daemon_process(home).kill()
    crew.await_answers(CALLS_BETWEEN)
    crew.finish()

    kept = stored(crew.writers[0].client)
    assert crew.acknowledged <= kept
    assert kept <= crew.acknowledged | crew.unknown
    assert len(crew.unknown) <= CLIENTS * KILLS


def test_eight_clients_do_not_notice_that_the_daemon_is_stopped_in_good_order(
    home: Path, join: Join
) -> None:
    crew = join_all(join)
    crew.start()
    for command in ("down", "upgrade", "down"):
        crew.await_answers(CALLS_BETWEEN)
        run(command, home)
    crew.await_answers(CALLS_BETWEEN)
    crew.finish()

    assert crew.unknown == set()
    assert stored(crew.writers[0].client) == crew.acknowledged


def run(command: str, home: Path) -> None:
    subprocess.run(
        [QUARTERDECK, command], env=environment(home), check=True, timeout=60, capture_output=True
    )
