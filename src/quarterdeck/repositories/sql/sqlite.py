"""The embedded store: one writer thread that commits everything waiting at once.

Durability, by `database.durability`: `full` waits for the disk at each commit, so an
acknowledged write survives a power loss; `normal` lets the operating system write later, so
it survives a killed process but not a power loss. Writers of other processes are waited for.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio

from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.shielded import cancel_again
from quarterdeck.repositories.sql.transaction import SQLITE, SqlTransaction

T = TypeVar("T")
Durability = Literal["full", "normal"]

READERS = 4
BUSY_TIMEOUT_SECONDS = 10
# One commit for this many at most, so that the first of a long queue is not kept waiting.
BATCH = 256


@dataclass(slots=True)
class _Decision:
    """One `write` on its way through the writer thread."""

    decide: Callable[[Transaction], Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[None]"
    result: Any = None
    error: BaseException | None = None
    is_settled: bool = False

    async def wait(self) -> Any:  # noqa: ANN401 - it is what `decide` returns
        """Return the result after the commit; a cancellation arrives after it, not instead."""
        cancellation: asyncio.CancelledError | None = None
        with anyio.CancelScope(shield=True):
            while not self.is_settled:
                try:
                    await self.future
                except asyncio.CancelledError as error:
                    # A plain `task.cancel()` got through the shield and took the future along.
                    cancellation, self.future = error, self.loop.create_future()
        if cancellation is not None:
            cancel_again(cancellation)
        if self.error is not None:
            raise _translated(self.error)
        return self.result

    def run(self, tx: SqlTransaction) -> None:
        try:
            self.result = self.decide(tx)
        except Exception as error:  # noqa: BLE001 - handed to the caller that waits for it
            self.error = error

    def settle(self) -> None:
        self.is_settled = True
        if not self.future.done():
            self.future.set_result(None)


class SqliteStore:
    """Implements `Store` on one file."""

    def __init__(self, path: Path, *, durability: Durability = "full") -> None:
        """Open `path`, which must have been migrated."""
        self._path = path
        self._durability = durability
        self._waiting: queue.SimpleQueue[_Decision | None] = queue.SimpleQueue()
        self._closed = False
        self._reader = threading.local()
        self._read_connections: list[sqlite3.Connection] = []
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="quarterdeck-reader")
        self._writer = threading.Thread(target=self._write_all, name="quarterdeck-writer")
        self._writer.daemon = True
        self._writer.start()

    async def write(self, decide: Callable[[Transaction], T]) -> T:
        """Run `decide` in one transaction and return its result after the commit."""
        if self._closed:
            raise StorageUnavailable("the store is closed")
        loop = asyncio.get_running_loop()
        decision = _Decision(decide, loop, loop.create_future())
        self._waiting.put(decision)
        return await decision.wait()

    async def read(self, look: Callable[[Transaction], T]) -> T:
        """Run `look` on a connection of its own; WAL readers never wait for the writer."""
        if self._closed:
            raise StorageUnavailable("the store is closed")
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._readers, self._look, look)
        except sqlite3.Error as error:
            raise _translated(error) from error

    async def close(self) -> None:
        """Finish what was handed over, then close the file."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
            await asyncio.to_thread(self._writer.join)
            await asyncio.to_thread(self._readers.shutdown)
            for connection in self._read_connections:
                connection.close()

    def _look(self, look: Callable[[Transaction], T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._reader, "connection", None)
        if connection is None:
            connection = self._reader.connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
            self._read_connections.append(connection)
        connection.execute("BEGIN")
        try:
            return look(SqlTransaction(connection, SQLITE))
        finally:
            connection.rollback()

    def _connect(self) -> sqlite3.Connection:
        # Autocommit: the store begins and ends transactions itself.
        connection = sqlite3.connect(
            self._path,
            timeout=BUSY_TIMEOUT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        for pragma in self._pragmas():
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _pragmas(self) -> Iterable[str]:
        yield "journal_mode = WAL"
        yield "foreign_keys = ON"
        yield f"synchronous = {self._durability}"
        if self._durability == "full":
            # On macOS a plain fsync leaves data in the drive's cache; elsewhere this is ignored.
            yield "fullfsync = ON"
            yield "checkpoint_fullfsync = ON"

    def _write_all(self) -> None:
        connection: sqlite3.Connection | None = None
        while batch := self._next_batch():
            try:
                connection = connection or self._connect()
                _commit(connection, batch)
            except sqlite3.Error as error:
                _fail(batch, error)
                connection = _dropped(connection)
            _settle(batch)
        if connection is not None:
            connection.close()

    def _next_batch(self) -> Sequence[_Decision]:
        """Wait for a decision, then take all others that wait; an empty batch ends the thread."""
        first = self._waiting.get()
        if first is None:
            return ()
        batch = [first]
        while len(batch) < BATCH:
            try:
                decision = self._waiting.get_nowait()
            except queue.Empty:
                break
            if decision is None:
                self._waiting.put(None)
                break
            batch.append(decision)
        return batch


def _commit(connection: sqlite3.Connection, batch: Sequence[_Decision]) -> None:
    """Run every decision in a savepoint of its own and commit those that succeeded."""
    tx = SqlTransaction(connection, SQLITE)
    connection.execute("BEGIN IMMEDIATE")
    for decision in batch:
        connection.execute("SAVEPOINT decision")
        decision.run(tx)
        if decision.error is not None:
            if not connection.in_transaction:
                # A full disk can end the whole transaction; then nobody's write is in it.
                raise sqlite3.OperationalError("the transaction was rolled back")
            connection.execute("ROLLBACK TO decision")
        connection.execute("RELEASE decision")
    connection.execute("COMMIT")


def _fail(batch: Sequence[_Decision], error: sqlite3.Error) -> None:
    for decision in batch:
        decision.error = decision.error or error


def _dropped(connection: sqlite3.Connection | None) -> None:
    """Give up a connection that failed; closing it rolls back, and the next batch opens another."""
    if connection is not None:
        with suppress(sqlite3.Error):
            connection.close()


def _settle(batch: Sequence[_Decision]) -> None:
    """Answer all callers, waking each event loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Decision]] = {}
    for decision in batch:
        by_loop.setdefault(decision.loop, []).append(decision)
    for loop, decisions in by_loop.items():
        # A loop that was closed meanwhile has nobody waiting.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_answer, decisions)


def _answer(decisions: Sequence[_Decision]) -> None:
    for decision in decisions:
        decision.settle()


def _translated(error: BaseException) -> BaseException:
    """Return what a caller sees; a broken constraint is a bug of ours and stays itself."""
    # `DatabaseError` itself, not its kinds, says that the file is damaged or no database.
    if isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError:
        return StorageUnavailable(str(error))
    return error
