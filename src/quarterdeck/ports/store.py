"""The write port: one decision is one transaction, and nothing is awaited inside it."""

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Transaction(Protocol):
    """A connection inside a transaction. Services pass it on; only repositories use it."""


class Store(Protocol):
    """A database that acknowledges a write only after it is durable."""

    async def write(self, decide: Callable[[Transaction], T]) -> T:
        """Run `decide` in one transaction and return its result after the commit.

        `decide` may run more than once (a serialization failure is retried), so it must not
        change anything outside the transaction. An exception rolls back this decision only.
        Once handed over, a decision is carried out even when the caller is cancelled: the
        cancellation arrives after the commit.
        """
        ...

    async def read(self, look: Callable[[Transaction], T]) -> T:
        """Run `look` on a snapshot that has every acknowledged write; it cannot change anything."""
        ...

    async def close(self) -> None:
        """Finish what was handed over, then let go of the database."""
        ...
