"""The shared store: each decision is a serializable transaction of its own, retried on conflict."""

import asyncio
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout

from quarterdeck.errors import StorageUnavailable
from quarterdeck.ports.store import Transaction
from quarterdeck.repositories.sql.shielded import finished
from quarterdeck.repositories.sql.transaction import POSTGRES, SqlTransaction

T = TypeVar("T")
Connection = psycopg.Connection[tuple[object, ...]]

ATTEMPTS = 12
POOL_TIMEOUT_SECONDS = 10
# Two transactions that insert the same new row: the second sees a duplicate, and on its next
# try the row. A duplicate that stays is a real one.
DUPLICATE_ATTEMPTS = 3
_RETRIED = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation)


class PostgresStore:
    """Implements `Store` on a PostgreSQL server."""

    def __init__(self, url: str, *, pool_size: int = 10) -> None:
        """Connect lazily; `url` is a libpq connection string."""
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            min_size=0,
            max_size=pool_size,
            timeout=POOL_TIMEOUT_SECONDS,
            # Each failed attempt doubles the pause before the next. Starting anew with the next
            # caller, a long outage is not followed by one as long after the server is back.
            reconnect_timeout=POOL_TIMEOUT_SECONDS,
            open=True,
            configure=_configure,
            # A connection that died while idle (a restarted server) is replaced, not handed out.
            check=ConnectionPool.check_connection,
            name="quarterdeck",
            kwargs={"connect_timeout": POOL_TIMEOUT_SECONDS},
        )
        self._closed = False
        self._threads = ThreadPoolExecutor(pool_size, thread_name_prefix="quarterdeck-sql")

    async def write(self, decide: Callable[[Transaction], T]) -> T:
        """Run `decide` in one serializable transaction; return its result after the commit."""
        return await finished(self._hand_over(self._write, decide))

    async def read(self, look: Callable[[Transaction], T]) -> T:
        """Run `look` in a transaction that can only read."""
        return await self._hand_over(self._read, look)

    async def close(self) -> None:
        """Finish what was handed over, then give the connections back."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._pool.close)

    def _hand_over(
        self, work: Callable[[Callable[[Transaction], T]], T], task: Callable[[Transaction], T]
    ) -> "asyncio.Future[T]":
        if self._closed:
            raise StorageUnavailable("the store is closed")
        return asyncio.get_running_loop().run_in_executor(self._threads, work, task)

    def _write(self, decide: Callable[[Transaction], T]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._pool.connection() as connection:
                    return decide(SqlTransaction(connection, POSTGRES))
            except _RETRIED as error:
                if isinstance(error, errors.UniqueViolation) and attempt >= DUPLICATE_ATTEMPTS:
                    raise
                if attempt == ATTEMPTS:
                    raise StorageUnavailable("too many conflicting writes") from error
                # Random, so that two that met once do not meet again.
                time.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))  # noqa: S311 - not for secrets
            except (psycopg.OperationalError, PoolTimeout) as error:
                raise StorageUnavailable(_reason(error)) from error
        raise AssertionError("the last attempt returns or raises")

    def _read(self, look: Callable[[Transaction], T]) -> T:
        try:
            with self._pool.connection() as connection:
                # A snapshot, as serializable too, but one that never fails to serialize.
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                return look(SqlTransaction(connection, POSTGRES))
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise StorageUnavailable(_reason(error)) from error


def _configure(connection: Connection) -> None:
    connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE


def _reason(error: Exception) -> str:
    # libpq's text may repeat the connection string, and with it a password.
    return type(error).__name__
