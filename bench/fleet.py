"""A daemon with a fleet: many agents at work, and many workspaces that are asked for metadata."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import psutil
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from bench.figures import held, milliseconds, percentile, times
from bench.homes import daemon_in, new_home
from bench.report import Row, Section
from quarterdeck.daemon.address import find
from quarterdeck.daemon.key import read_key

Work = Callable[[str], Coroutine[Any, Any, None]]

LISTED, BUSY = 100, 200
LOOKS = 300
COLD_SECONDS, CACHED_SECONDS, SHOW_SECONDS, IDLE_BYTES = 2.5, 0.05, 0.1, 2 * 1024 * 1024
# Names at a time in one `wait_for_agent`, and creations at once.
TOGETHER = 50
TASKFILE = """\
version: "3"
tasks:
  branch: {meta: {include_in_list: true}, cmds: [echo main]}
  changes: {meta: {include_in_list: true}, cmds: [echo 3]}
  slow: {meta: {include_in_list: false}, cmds: [sleep 1; echo 1]}
"""
CONFIG = """\
[projects.Bench]
folder = "{folder}"
"""
LIST_COLUMNS = ("answer", "time", "one after the other", "ratio", "target")
LIST_ABOUT = (
    f"`list_agents` over HTTP with {LISTED} scripted agents, each with three metadata fields of"
    " which one takes a second. The peer is what the slowest fields take one after the other."
)
BUSY_COLUMNS = ("what", "while busy", "while idle", "ratio", "target")
BUSY_ABOUT = (
    f"A daemon with {BUSY} scripted agents, first idle, then all at work and reporting"
    f" progress; {LOOKS} `show_agent` calls over HTTP, one at a time. The peer is the same daemon"
    " with the same agents idle."
)


@dataclass(frozen=True)
class Fleet:
    client: Client[Any]
    daemon: psutil.Process

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        result = await self.client.call_tool_mcp(tool, arguments)
        assert not result.is_error, f"{tool} failed: {result.structured_content}"
        return result.structured_content or {}


async def measure(*, quick: bool) -> AsyncIterator[Section]:
    yield await _listing(10 if quick else LISTED)
    yield await _at_work(10 if quick else BUSY, LOOKS // 10 if quick else LOOKS)


async def _listing(count: int) -> Section:
    async with _fleet(TASKFILE) as fleet:
        await _create(fleet, _names(count))
        took = await _timed(fleet, "list_agents")
        cached = median([await _timed(fleet, "list_agents") for _ in range(5)])
    sequential = float(count)
    rows = [
        Row(
            _list_cells("cold", took, sequential, held(took, COLD_SECONDS, "under 2.5 s")),
            "the first answer",
        ),
        Row(
            _list_cells("cached", cached, sequential, held(cached, CACHED_SECONDS, "under 50 ms")),
            "the same answer again",
        ),
    ]
    return Section("Listing a fleet with metadata", LIST_ABOUT, LIST_COLUMNS, rows)


async def _at_work(count: int, looks: int) -> Section:
    async with _fleet(None) as fleet:
        names = _names(count)
        before = fleet.daemon.memory_info().rss
        await _create(fleet, names)
        idle_bytes = (fleet.daemon.memory_info().rss - before) / count
        idle = await _looks(fleet, names, looks)
        await _in_groups(names, lambda name: _set_to_work(fleet, name))
        busy = await _looks(fleet, names, looks)
        statuses = await fleet.call("list_agents", include_metadata=False)
        working = sum(agent["status"] == "busy" for agent in statuses["agents"])
        assert working == count, f"only {working} of {count} are at work"
        children = fleet.daemon.children(recursive=True)
    left = [child for child in children if child.is_running()]
    rows = [_show_row(busy, idle, share) for share in (0.5, 0.95)]
    size = held(idle_bytes, IDLE_BYTES, "under 2 MB")
    memory = ("daemon memory an idle agent", "-", f"{idle_bytes / 1024:.0f} KiB", "-", size)
    rows.append(Row(memory, "growth of the resident set, by the number of agents"))
    gone = (f"processes left of {len(children)}", str(len(left)), "-", "-", held(len(left), 0, "0"))
    rows.append(Row(gone, "after `quarterdeck down` with all agents at work"))
    return Section("Many agents at work", BUSY_ABOUT, BUSY_COLUMNS, rows)


@asynccontextmanager
async def _fleet(taskfile: str | None) -> AsyncGenerator[Fleet]:
    with new_home() as home:
        folder = home / "work"
        folder.mkdir()
        if taskfile is not None:
            (folder / "Taskfile.yml").write_text(taskfile, encoding="utf-8")
        (home / "config.toml").write_text(CONFIG.format(folder=folder), encoding="utf-8")
        with daemon_in(home) as url:
            async with Client(_transport(home, url)) as client:
                address = find(home)
                assert address is not None, "it has just been started"
                yield Fleet(client, psutil.Process(address.pid))


def _transport(home: Path, url: str) -> StreamableHttpTransport:
    headers = {"Authorization": f"Bearer {read_key(home)}"}
    return StreamableHttpTransport(f"{url}/mcp", headers=headers)


def _names(count: int) -> list[str]:
    return [f"agent-{number}" for number in range(count)]


async def _create(fleet: Fleet, names: Sequence[str]) -> None:
    async def create(name: str) -> None:
        await fleet.call("create_agent", name=name, project="Bench", task="/say ready")

    await _in_groups(names, create)
    for start in range(0, len(names), TOGETHER):
        await _until_idle(fleet, names[start : start + TOGETHER])


async def _until_idle(fleet: Fleet, names: Sequence[str]) -> None:
    while (await fleet.call("wait_for_agent", agent_names=list(names)))["timed_out"]:
        pass


async def _set_to_work(fleet: Fleet, name: str) -> None:
    await fleet.call("start_agent_task", agent_name=name, task_description="/slow 3600")


async def _in_groups(
    names: Sequence[str], work: Callable[[str], Coroutine[Any, Any, None]]
) -> None:
    for start in range(0, len(names), TOGETHER):
        async with anyio.create_task_group() as tasks:
            for name in names[start : start + TOGETHER]:
                tasks.start_soon(work, name)


async def _timed(fleet: Fleet, tool: str) -> float:
    start = time.perf_counter()
    await fleet.call(tool)
    return time.perf_counter() - start


async def _looks(fleet: Fleet, names: Sequence[str], count: int) -> list[float]:
    taken: list[float] = []
    for number in range(count):
        start = time.perf_counter()
        await fleet.call("show_agent", agent_name=names[number % len(names)])
        taken.append(time.perf_counter() - start)
    return taken


def _show_row(busy: Sequence[float], idle: Sequence[float], share: float) -> Row:
    now, before = percentile(busy, share), percentile(idle, share)
    target = held(now, SHOW_SECONDS, "under 100 ms") if share > 0.5 else ""
    cells = (
        f"show_agent p{share * 100:.0f}",
        milliseconds(now),
        milliseconds(before),
        times(now / before),
        target,
    )
    return Row(cells, "one agent after the other, with its metadata, of which there is none")


def _list_cells(name: str, took: float, sequential: float, target: str) -> tuple[str, ...]:
    ratio = took / sequential
    shown = times(ratio) if ratio >= 0.01 else "<0.01x"
    return (name, milliseconds(took), f"{sequential:.0f} s", shown, target)
