"""`/metrics` of a real server moves with what its clients do."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from prometheus_client.parser import text_string_to_metric_families as parsed

from tests.support.servers import bearer, http_server, key_of

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]
MADE_UP = 1000
AT_ONCE = 20


class Site(NamedTuple):
    """A server, and what it takes to be let in."""

    url: str
    key: str

    def client(self) -> Client[StreamableHttpTransport]:
        return Client(StreamableHttpTransport(f"{self.url}/mcp", headers=bearer(self.key)))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with http_server(home=tmp_path) as (url, _):
        yield Site(url, key_of(tmp_path))


async def series(site: Site) -> Series:
    async with httpx2.AsyncClient(headers=bearer(site.key)) as http:
        answer = await http.get(f"{site.url}/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parsed(answer.text)
        for sample in family.samples
    }


def calls(found: Series, name: str, outcome: str) -> float:
    labels = {("surface", "mcp"), ("name", name), ("outcome", outcome)}
    return found.get(("quarterdeck_calls_total", frozenset(labels)), 0)


def plain(found: Series, name: str) -> float:
    return found[name, frozenset()]


async def test_values_move_with_calls_that_succeed_and_calls_that_fail(site: Site) -> None:
    before = await series(site)
    async with site.client() as client:
        for number in range(3):
            await client.call_tool_mcp("memory_store", {"key": f"k{number}", "value": {}})
        await client.call_tool_mcp("memory_store", {"key": 5})
        await client.call_tool_mcp("trace_get", {"traceId": "nowhere"})
    after = await series(site)
    assert calls(before, "mcp.memory_store", "success") == 0
    assert calls(after, "mcp.memory_store", "success") == 3
    assert calls(after, "mcp.memory_store", "invalid_input") == 1
    assert calls(after, "mcp.trace_get", "not_found") == 1
    written = "quarterdeck_traces_written_total"
    assert plain(after, written) - plain(before, written) == 5
    assert plain(after, "quarterdeck_calls_running") == 0
    assert plain(after, "quarterdeck_requests_refused_total") == 0
    async with httpx2.AsyncClient() as stranger:
        assert (await stranger.get(f"{site.url}/metrics")).status_code == 401
    assert plain(await series(site), "quarterdeck_requests_refused_total") == 1
    assert plain(after, "quarterdeck_store_bytes") > 0
    timed = frozenset({("surface", "mcp"), ("name", "mcp.memory_store")})
    assert after["quarterdeck_call_duration_seconds_count", timed] == 4


async def test_a_thousand_unknown_names_add_one_series(site: Site) -> None:
    async with site.client() as client:
        await client.call_tool_mcp("memory_stor", {})
        before = await series(site)
        numbers = iter(range(1, MADE_UP))

        async def call_some() -> None:
            for number in numbers:
                await client.call_tool_mcp(f"made_up_{number}", {})

        await asyncio.gather(*(call_some() for _ in range(AT_ONCE)))
    after = await series(site)
    assert set(after) == set(before)
    assert calls(after, "other", "not_found") == MADE_UP
