"""The peer of a call: FastMCP tools with our signatures and answers that do nothing at all."""

from typing import Any

from fastmcp import FastMCP

from bench.cases import VALUE, is_stored
from quarterdeck.domain.json import JsonObject
from quarterdeck.domain.memory import (
    DEFAULT_NAMESPACE,
    MemoryRetrieveResponse,
    MemoryStoreResponse,
)
from quarterdeck.tools.memory import Key, Namespace
from quarterdeck.tools.meta import WORKFLOW, Guidance, ListResourcesResponse


def build_peer() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("bare")

    @server.tool
    async def memory_retrieve(
        key: Key, namespace: Namespace = DEFAULT_NAMESPACE
    ) -> MemoryRetrieveResponse:
        if is_stored(key):
            return MemoryRetrieveResponse(found=True, key=key, namespace=namespace, value=VALUE)
        return MemoryRetrieveResponse(
            found=False, key=key, namespace=namespace, message="Nothing stored"
        )

    @server.tool
    async def memory_store(
        key: Key, value: JsonObject, namespace: Namespace = DEFAULT_NAMESPACE
    ) -> MemoryStoreResponse:
        del value
        return MemoryStoreResponse(success=True, key=key, namespace=namespace, message="Stored")

    @server.tool
    async def mcp_list_resources() -> ListResourcesResponse:
        return ListResourcesResponse(
            total_resources=0,
            resources=[],
            resource_templates=[],
            guidance=Guidance(workflow=WORKFLOW),
        )

    # The decorator has registered them; the names are only there to say so.
    del memory_retrieve, memory_store, mcp_list_resources
    return server


if __name__ == "__main__":
    build_peer().run("stdio", show_banner=False)
