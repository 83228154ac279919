"""The two sides of a comparison, as clients see them: Quarterdeck and the bare peer."""

import os
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from bench.cases import STORED_KEY, VALUE
from bench.homes import COMMAND, environment, new_home, opened
from bench.peer import build_peer
from quarterdeck.tools.server import Services, build_server

Era = Literal["auto", "legacy"]


@dataclass(frozen=True)
class Side:
    """A connected client, and the process that answers it."""

    client: Client[Any]
    process: psutil.Process

    def cpu_seconds(self) -> float:
        """Return the CPU time of the answering process since it began."""
        if sys.platform == "linux":
            # What clock_getcpuclockid(3) returns; psutil's clock there ticks in hundredths.
            return time.clock_gettime(~self.process.pid << 3 | 2)
        used = self.process.cpu_times()
        return used.user + used.system


@dataclass(frozen=True)
class Pair:
    """Both sides, up at the same time."""

    ours: Side
    bare: Side


@asynccontextmanager
async def in_memory() -> AsyncGenerator[Pair]:
    """Connect to both inside this process, whose CPU time then includes the client's."""
    with new_home() as home:
        async with opened(home) as deck, deck.serving():
            services = Services(deck.calls, deck.fleet, deck.memory, deck.traces, deck.redactor)
            here = psutil.Process()
            async with Client(build_server(services)) as ours, Client(build_peer()) as bare:
                await _prepare(ours)
                yield Pair(Side(ours, here), Side(bare, here))


@asynccontextmanager
async def over_stdio(era: Era) -> AsyncGenerator[Pair]:
    """Start both as processes of their own."""
    with new_home() as home:
        env = environment(home)
        async with (
            _spawned([COMMAND, "mcp", "--standalone"], env, era) as ours,
            _spawned([sys.executable, "-m", "bench.peer"], env, era) as bare,
        ):
            await _prepare(ours.client)
            yield Pair(ours, bare)


@asynccontextmanager
async def worded(metadata: str, era: Era) -> AsyncGenerator[Pair]:
    """Start Quarterdeck twice, once with a file of other words."""
    command = [COMMAND, "mcp", "--standalone"]
    with new_home() as home, new_home() as plain_home:
        _write(home / "metadata.yaml", metadata)
        async with (
            _spawned(command, environment(home), era) as ours,
            _spawned(command, environment(plain_home), era) as plain,
        ):
            for side in (ours, plain):
                await _prepare(side.client)
            yield Pair(ours, plain)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@asynccontextmanager
async def _spawned(command: list[str], env: dict[str, str], era: Era) -> AsyncGenerator[Side]:
    program, *arguments = command
    transport = StdioTransport(
        program, arguments, env=env, keep_alive=False, log_file=Path(os.devnull)
    )
    with _new_children() as children:
        async with Client(transport, mode=era) as client:
            (process,) = children()
            yield Side(client, process)


@contextmanager
def _new_children() -> Generator[Callable[[], list[psutil.Process]]]:
    here = psutil.Process()
    before = set(here.children())
    yield lambda: [child for child in here.children() if child not in before]


async def _prepare(ours: Client[Any]) -> None:
    await ours.call_tool_mcp("memory_store", {"key": STORED_KEY, "value": VALUE})
