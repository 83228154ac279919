"""Tools of the shared memory."""

from typing import Annotated

from pydantic import Field

from quarterdeck.domain.effect import Effect
from quarterdeck.domain.json import JsonObject
from quarterdeck.domain.memory import (
    DEFAULT_NAMESPACE,
    KEY_LENGTH,
    NAMESPACE_LENGTH,
    PREFIX_LENGTH,
    QUERY_LENGTH,
    MemoryDeleteResponse,
    MemoryListResponse,
    MemoryRetrieveResponse,
    MemorySearchResponse,
    MemoryStoreResponse,
)
from quarterdeck.services.memory import MemoryService
from quarterdeck.tools.registry import Toolset

Key = Annotated[str, Field(min_length=1, max_length=KEY_LENGTH)]
Namespace = Annotated[str, Field(min_length=1, max_length=NAMESPACE_LENGTH)]
Prefix = Annotated[str, Field(max_length=PREFIX_LENGTH)]
Query = Annotated[str, Field(min_length=1, max_length=QUERY_LENGTH)]
Cursor = Annotated[str, Field(min_length=1, max_length=100)]


def memory_tools(memory: MemoryService) -> Toolset:
    """Return the five tools over `memory`."""
    tools = Toolset("memory")

    @tools.tool(Effect.WRITE)
    async def memory_store(
        key: Key, value: JsonObject, namespace: Namespace = DEFAULT_NAMESPACE
    ) -> MemoryStoreResponse:
        return await memory.store(key, value, namespace=namespace)

    @tools.tool(Effect.READ)
    async def memory_retrieve(
        key: Key, namespace: Namespace = DEFAULT_NAMESPACE
    ) -> MemoryRetrieveResponse:
        return await memory.retrieve(key, namespace=namespace)

    @tools.tool(Effect.READ)
    async def memory_search(
        query: Query,
        namespace: Namespace | None = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> MemorySearchResponse:
        return await memory.search(query, namespace=namespace, limit=limit)

    @tools.tool(Effect.READ)
    async def memory_list(
        namespace: Namespace | None = None,
        limit: Annotated[int, Field(ge=1, le=1000)] = 100,
        prefix: Prefix = "",
        cursor: Cursor | None = None,
    ) -> MemoryListResponse:
        return await memory.list(namespace=namespace, prefix=prefix, limit=limit, cursor=cursor)

    @tools.tool(Effect.DESTROY)
    async def memory_delete(
        key: Key, namespace: Namespace = DEFAULT_NAMESPACE
    ) -> MemoryDeleteResponse:
        return await memory.delete(key, namespace=namespace)

    return tools
