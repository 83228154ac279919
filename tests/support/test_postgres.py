import psycopg
import pytest

from tests.support.postgres import PostgresServer


def test_each_database_starts_empty_and_is_gone_afterwards(
    postgres_server: PostgresServer,
) -> None:
    with postgres_server.empty_database() as first, postgres_server.empty_database() as second:
        with psycopg.connect(first) as connection:
            connection.execute("CREATE TABLE kept (id int)")
        with psycopg.connect(second) as connection:
            assert connection.execute("SELECT to_regclass('kept')").fetchone() == (None,)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(first)


def test_a_database_is_dropped_although_a_client_is_still_connected(
    postgres_server: PostgresServer,
) -> None:
    with postgres_server.empty_database() as url:
        forgotten = psycopg.connect(url)
    with pytest.raises(psycopg.OperationalError):
        forgotten.execute("SELECT 1")
    forgotten.close()
