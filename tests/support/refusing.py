"""A database that takes everything but traces."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager

import psycopg

from quarterdeck.testing import Deck

SQLITE = (
    "CREATE TRIGGER refuse BEFORE INSERT ON traces BEGIN SELECT RAISE(ABORT, 'no traces'); END",
    "DROP TRIGGER refuse",
)
POSTGRES = (
    "ALTER TABLE traces ADD CONSTRAINT no_traces CHECK (false) NOT VALID",
    "ALTER TABLE traces DROP CONSTRAINT no_traces",
)


@contextmanager
def refused_traces(deck: Deck) -> Generator[None]:
    """Let the database refuse every trace that is to be written."""
    refuse, accept = SQLITE if deck.quarterdeck.settings.database.url is None else POSTGRES
    _run(deck, refuse)
    try:
        yield
    finally:
        _run(deck, accept)


def _run(deck: Deck, statement: str) -> None:
    settings = deck.quarterdeck.settings
    if settings.database.url is None:
        with closing(sqlite3.connect(settings.database_path)) as connection:
            connection.execute(statement)
    else:
        with psycopg.connect(settings.database.url.get_secret_value()) as connection:
            connection.execute(statement.encode())
