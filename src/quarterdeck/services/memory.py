"""The shared memory: store, retrieve, search, list, delete."""

from collections.abc import Sequence

from quarterdeck.domain.effect import Effect
from quarterdeck.domain.json import JsonObject
from quarterdeck.domain.memory import (
    ALL_NAMESPACES,
    DEFAULT_NAMESPACE,
    PREFIX_LENGTH,
    QUERY_LENGTH,
    MemoryDeleteResponse,
    MemoryEntry,
    MemoryHit,
    MemoryKeyRow,
    MemoryListResponse,
    MemoryRetrieveResponse,
    MemorySearchResponse,
    MemoryStoreResponse,
    checked_key,
    checked_namespace,
    checked_value,
    cursor_after,
    place_of,
)
from quarterdeck.domain.names import checked_name
from quarterdeck.ports.repositories import MemoryRepository
from quarterdeck.ports.store import Transaction
from quarterdeck.services.operation import Operation, Operations, operation


class MemoryService:
    """Durable JSON objects that every client and agent of this Quarterdeck shares."""

    def __init__(self, operations: Operations, memory: MemoryRepository) -> None:
        """Entries live in `memory`."""
        self.operations = operations
        self._memory = memory

    @operation("memory.store", Effect.WRITE)
    async def store(
        self, op: Operation, key: str, value: JsonObject, *, namespace: str = DEFAULT_NAMESPACE
    ) -> MemoryStoreResponse:
        """Keep `value` under `key`, replacing what was there; it is durable on return."""
        checked_key(key)
        checked_namespace(namespace)
        text = checked_value(value)
        now = self.operations.clock.now()

        def decide(tx: Transaction) -> MemoryStoreResponse:
            replaced = self._memory.put(tx, namespace, key, value, text, now)
            message = f"{'Replaced' if replaced else 'Stored'} {key!r} in namespace {namespace!r}"
            return MemoryStoreResponse(success=True, key=key, namespace=namespace, message=message)

        return await op.commit(decide)

    @operation("memory.retrieve", Effect.READ)
    async def retrieve(
        self, op: Operation, key: str, *, namespace: str = DEFAULT_NAMESPACE
    ) -> MemoryRetrieveResponse:
        """Return what is stored under `key`; an absent key is an answer, not an error."""
        checked_key(key)
        checked_namespace(namespace)
        # The trace needs the writer anyway, and one point read there costs less than a second
        # trip to another thread.
        return await op.commit(
            lambda tx: _retrieved(self._memory.find(tx, namespace, key), key, namespace)
        )

    @operation("memory.search", Effect.READ)
    async def search(
        self, op: Operation, query: str, *, namespace: str | None = None, limit: int = 10
    ) -> MemorySearchResponse:
        """Return the best matches for a text: by key first, then by words of the value."""
        checked_name("query", query, longest=QUERY_LENGTH)
        if namespace is not None:
            checked_namespace(namespace)
        found = await op.read(lambda tx: self._memory.search(tx, query, namespace, limit))
        return MemorySearchResponse(
            query=query,
            namespace=ALL_NAMESPACES if namespace is None else namespace,
            count=len(found),
            results=[
                MemoryHit(
                    key=entry.key,
                    namespace=entry.namespace,
                    value=entry.value,
                    stored_at=entry.stored_at,
                )
                for entry in found
            ],
        )

    @operation("memory.list", Effect.READ)
    async def list(
        self,
        op: Operation,
        *,
        namespace: str | None = None,
        prefix: str = "",
        limit: int = 100,
        cursor: str | None = None,
    ) -> MemoryListResponse:
        """Return keys by first store, oldest first, a page at a time."""
        if namespace is not None:
            checked_namespace(namespace)
        checked_name("prefix", prefix, longest=PREFIX_LENGTH, shortest=0)
        after = 0 if cursor is None else place_of(cursor)

        def look(tx: Transaction) -> tuple[Sequence[MemoryEntry], int]:
            rows = self._memory.list(tx, namespace, prefix, after=after, limit=limit + 1)
            return rows, self._memory.count(tx, namespace, prefix)

        rows, total = await op.read(look)
        return _page(rows, total, limit)

    @operation("memory.delete", Effect.DESTROY)
    async def delete(
        self, op: Operation, key: str, *, namespace: str = DEFAULT_NAMESPACE
    ) -> MemoryDeleteResponse:
        """Forget `key`; return whether it was there.

        Safe to repeat. A trace is written in either case (INV-MCP-MEM-005).
        """
        checked_key(key)
        checked_namespace(namespace)

        def decide(tx: Transaction) -> MemoryDeleteResponse:
            deleted = self._memory.remove(tx, namespace, key)
            what = "Deleted" if deleted else "Nothing stored under"
            return MemoryDeleteResponse(
                deleted=deleted,
                key=key,
                namespace=namespace,
                message=f"{what} {key!r} in namespace {namespace!r}",
            )

        return await op.commit(decide)


def _retrieved(entry: MemoryEntry | None, key: str, namespace: str) -> MemoryRetrieveResponse:
    if entry is None:
        message = f"Nothing stored under {key!r} in namespace {namespace!r}"
        return MemoryRetrieveResponse(found=False, key=key, namespace=namespace, message=message)
    return MemoryRetrieveResponse(
        found=True, key=key, namespace=namespace, value=entry.value, stored_at=entry.stored_at
    )


def _page(rows: Sequence[MemoryEntry], total: int, limit: int) -> MemoryListResponse:
    page, has_more = rows[:limit], len(rows) > limit
    return MemoryListResponse(
        keys=[
            MemoryKeyRow(key=row.key, namespace=row.namespace, stored_at=row.stored_at)
            for row in page
        ],
        total=total,
        has_more=has_more,
        next_cursor=cursor_after(page[-1].place) if has_more else None,
    )
