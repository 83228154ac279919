"""What a call left behind: its traces, and the rows of every table."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import psycopg
from psycopg import sql

from quarterdeck.domain.trace import EventType, Trace
from quarterdeck.ports.store import Store
from quarterdeck.repositories.sql.traces import SqlTraceRepository
from quarterdeck.testing import Deck

Rows = dict[str, list[tuple[Any, ...]]]


def store_of(deck: Deck) -> Store:
    return deck.quarterdeck.traces.operations.store


async def root_traces(deck: Deck) -> Sequence[Trace]:
    """Return the traces of all calls, newest first, with their events."""
    traces = SqlTraceRepository()
    rows = await store_of(deck).read(lambda tx: traces.list(tx, None, 10_000))
    return [await _whole(deck, row.trace_id) for row in rows]


async def newest_trace(deck: Deck) -> Trace:
    return (await root_traces(deck))[0]


async def children_of(deck: Deck, trace: Trace) -> Sequence[Trace]:
    traces = SqlTraceRepository()
    rows = await store_of(deck).read(lambda tx: traces.children(tx, trace.trace_id))
    return [await _whole(deck, row.trace_id) for row in rows]


async def _whole(deck: Deck, trace_id: str) -> Trace:
    trace = await store_of(deck).read(lambda tx: SqlTraceRepository().find(tx, trace_id))
    assert trace is not None
    return trace


def payload_of(trace: Trace, kind: EventType) -> dict[str, Any]:
    """Return the payload of the one event of this kind."""
    [event] = [event for event in trace.events if event.type is kind]
    return json.loads(event.payload)


def all_rows(deck: Deck) -> Rows:
    """Return every row of every table, read past the product."""
    settings = deck.quarterdeck.settings
    if settings.database.url is None:
        with closing(sqlite3.connect(settings.database_path)) as connection:
            return _sqlite_rows(connection)
    with psycopg.connect(settings.database.url.get_secret_value()) as connection:
        return _postgres_rows(connection)


def _sqlite_rows(connection: sqlite3.Connection) -> Rows:
    # A virtual table keeps its rows in others.
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    return {
        name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)  # noqa: S608 - names of our own tables
        for (name,) in tables
    }


def _postgres_rows(connection: psycopg.Connection[tuple[Any, ...]]) -> Rows:
    named = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    return {
        name: sorted(
            connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))).fetchall(),
            key=repr,
        )
        for (name,) in connection.execute(named).fetchall()
    }
