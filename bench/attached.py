"""A call through the stdio bridge against the same call to the same daemon over HTTP."""

import itertools
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from bench.calls import ERAS
from bench.cases import CASES, STORED_KEY, VALUE, Case
from bench.figures import held, milliseconds, times
from bench.homes import COMMAND, daemon_in, environment, new_home
from bench.report import Row, Section
from bench.sides import Era
from quarterdeck.daemon.key import read_key

TARGET_MS = 3.0
AT_ONCE = (1, 32)
CALLS = 160
REPEATS = 15
COLUMNS = ("call", "at once", "attached p50", "HTTP p50", "added", "ratio", "target")
ABOUT = (
    "`quarterdeck mcp`, attached to a running daemon, against a client that speaks HTTP to that"
    f" daemon. They take turns: {REPEATS} times {CALLS} calls each. The target is for one call at"
    " a time."
)


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    for era, protocol in ERAS.items():
        async with _both(era) as (attached, direct):
            numbers = itertools.count()
            rows = [
                await _compared(attached, direct, case, at_once, numbers, quick=quick)
                for case in CASES[1:3]
                for at_once in AT_ONCE
            ]
        yield Section(f"A call through the daemon (protocol {protocol})", ABOUT, COLUMNS, rows)


@asynccontextmanager
async def _both(era: Era) -> AsyncGenerator[tuple[Client[Any], Client[Any]]]:
    with new_home() as home, daemon_in(home) as url:
        bridge = StdioTransport(
            COMMAND,
            ["mcp"],
            env=environment(home),
            keep_alive=False,
            log_file=Path(os.devnull),
        )
        headers = {"Authorization": f"Bearer {read_key(home)}"}
        http = StreamableHttpTransport(f"{url}/mcp", headers=headers)
        async with Client(bridge, mode=era) as attached, Client(http, mode=era) as direct:
            await direct.call_tool_mcp("memory_store", {"key": STORED_KEY, "value": VALUE})
            yield attached, direct


async def _compared(
    attached: Client[Any],
    direct: Client[Any],
    case: Case,
    at_once: int,
    numbers: Iterable[int],
    *,
    quick: bool,
) -> Row:
    calls, repeats = (64, 2) if quick else (CALLS, REPEATS)
    taken: dict[str, list[float]] = {"attached": [], "direct": []}
    for _ in range(repeats):
        for name, client in (("direct", direct), ("attached", attached)):
            taken[name] += await _batch(client, case, at_once, itertools.islice(numbers, calls))
    through, over_http = median(taken["attached"]), median(taken["direct"])
    added = through - over_http
    target = held(added * 1000, TARGET_MS, f"+{TARGET_MS:.0f} ms") if at_once == 1 else ""
    cells = (
        case.name,
        str(at_once),
        milliseconds(through),
        milliseconds(over_http),
        milliseconds(added),
        times(through / over_http),
        target,
    )
    return Row(cells, case.about)


async def _batch(
    client: Client[Any], case: Case, at_once: int, numbers: Iterable[int]
) -> list[float]:
    waiting, latencies = iter(numbers), list[float]()

    async def caller() -> None:
        for number in waiting:
            start = time.perf_counter()
            result = await client.call_tool_mcp(case.tool, case.arguments(number))
            latencies.append(time.perf_counter() - start)
            assert not result.is_error, f"{case.tool} failed, so there is nothing to measure"

    async with anyio.create_task_group() as callers:
        for _ in range(at_once):
            callers.start_soon(caller)
    return latencies
