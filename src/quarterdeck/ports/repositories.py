"""Where services keep things; each method runs inside a transaction of the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from quarterdeck.domain.definitions import Defined
from quarterdeck.domain.json import JsonObject
from quarterdeck.domain.memory import MemoryEntry
from quarterdeck.domain.tokens import Token
from quarterdeck.domain.trace import Trace, TraceStatus
from quarterdeck.ports.store import Transaction

D = TypeVar("D", bound=Defined)


class MemoryRepository(Protocol):
    """Entries of the shared memory."""

    def put(
        self,
        tx: Transaction,
        namespace: str,
        key: str,
        value: JsonObject,
        text: str,
        now: datetime,
    ) -> bool:
        """Store `value` (`text` is its JSON); return whether it replaced an older one."""
        ...

    def find(self, tx: Transaction, namespace: str, key: str) -> MemoryEntry | None:
        """Return the entry, or `None`."""
        ...

    def remove(self, tx: Transaction, namespace: str, key: str) -> bool:
        """Forget the entry; return whether it was there."""
        ...

    def count(self, tx: Transaction, namespace: str | None, prefix: str) -> int:
        """Count the entries whose key starts with `prefix`, case-sensitively."""
        ...

    def list(
        self, tx: Transaction, namespace: str | None, prefix: str, *, after: int, limit: int
    ) -> Sequence[MemoryEntry]:
        """Return entries by first store, oldest first, that come after place `after`.

        Their values are not read.
        """
        ...

    def search(
        self, tx: Transaction, query: str, namespace: str | None, limit: int
    ) -> Sequence[MemoryEntry]:
        """Return the best matches in the order of `domain.search.tiers`, newest first in each."""
        ...


class TraceRepository(Protocol):
    """Traces and their events."""

    def add(self, tx: Transaction, trace: Trace) -> None:
        """Write a trace with the events it has so far."""
        ...

    def close(self, tx: Transaction, trace: Trace) -> bool:
        """Write the end of a trace that `add` opened, with the events that came since.

        Return whether it was there and open; a restored database may not have it.
        """
        ...

    def find(self, tx: Transaction, trace_id: str) -> Trace | None:
        """Return the trace with its events, or `None`."""
        ...

    def list(self, tx: Transaction, status: TraceStatus | None, limit: int) -> Sequence[Trace]:
        """Return root traces, newest first, without their events."""
        ...

    def children(self, tx: Transaction, trace_id: str) -> Sequence[Trace]:
        """Return the traces of the work done inside a trace, oldest first, without events."""
        ...

    def open_of(self, tx: Transaction, daemon_id: str) -> Sequence[Trace]:
        """Return the traces a process left open, without their events."""
        ...

    def prune(self, tx: Transaction, *, before: datetime, keep: int, most: int) -> int:
        """Delete up to `most` of the oldest finished traces past either limit; return how many."""
        ...


@dataclass(frozen=True, slots=True)
class SeenDaemon:
    """A process that has not been seen to end."""

    daemon_id: str
    node_id: str
    host: str
    seen_at: datetime


class DaemonRepository(Protocol):
    """The processes that own rows: open traces, agents and tasks."""

    def add(self, tx: Transaction, daemon_id: str, node_id: str, host: str, now: datetime) -> None:
        """Note that a process has started."""
        ...

    def find(self, tx: Transaction, daemon_id: str) -> SeenDaemon | None:
        """Return a process that has not been seen to end, or `None`."""
        ...

    def see(self, tx: Transaction, daemon_id: str, now: datetime) -> None:
        """Note that a process is alive."""
        ...

    def list(self, tx: Transaction, node_id: str) -> Sequence[str]:
        """Return the processes of this node that have not been seen to end."""
        ...

    def remove(self, tx: Transaction, daemon_id: str) -> None:
        """Note that a process has ended; safe to repeat."""
        ...


class TokenRepository(Protocol):
    """Tokens that let clients in; a token is living until it is revoked."""

    def add(self, tx: Transaction, token: Token) -> None:
        """Keep a new token, whose name no living one has."""
        ...

    def find(self, tx: Transaction, token_id: str) -> Token | None:
        """Return the token with this id, or `None`."""
        ...

    def find_living(self, tx: Transaction, name: str) -> Token | None:
        """Return the living token of this name, expired or not, or `None`."""
        ...

    def find_hash(self, tx: Transaction, secret_hash: str) -> Token | None:
        """Return the token whose secret has this hash, or `None`."""
        ...

    def list(self, tx: Transaction) -> Sequence[Token]:
        """Return every token, newest first."""
        ...

    def revoke(self, tx: Transaction, token_id: str, now: datetime) -> bool:
        """End a token's life; return whether it was living."""
        ...

    def remove_named(self, tx: Transaction, name: str) -> None:
        """Forget every token of this name; safe to repeat."""
        ...

    def note_use(self, tx: Transaction, token_id: str, now: datetime) -> None:
        """Remember when a token was used last; the past is not written over the present."""
        ...


class DefinitionRepository(Protocol[D]):
    """Projects, or roles."""

    def put(self, tx: Transaction, defined: D, now: datetime) -> None:
        """Keep a definition, in place of the one with the same id; no other has its name."""
        ...

    def list(self, tx: Transaction) -> Sequence[D]:
        """Return all of them by name, without regard to case."""
        ...

    def remove(self, tx: Transaction, defined_id: str) -> bool:
        """Forget a definition; return whether it was there."""
        ...
