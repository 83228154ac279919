"""The process: lines from stdin to the relay, the relay's lines to stdout."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

from quarterdeck.bridge.attach import attach
from quarterdeck.bridge.link import Link
from quarterdeck.bridge.relay import Relay
from quarterdeck.daemon.launch import Say
from quarterdeck.stdin_lines import readable


async def run(home: Path, environ: Mapping[str, str], path: str, say: Say) -> None:
    """Serve the client at our stdin until it closes it, or until a signal.

    `path` is the daemon's MCP endpoint; `say` tells a person of a wait.
    """
    link = Link(home, environ, path, say)
    # First, so that a daemon that cannot start is an error of the command.
    link.connect(attach(home, environ, say))
    ended = asyncio.Event()

    def write(line: bytes) -> None:
        try:
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            ended.set()  # nobody reads what we have to say

    relay = Relay(link, write)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    serving, ending = asyncio.create_task(relay.run(_lines())), asyncio.create_task(ended.wait())
    await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
    await relay.close()
    if serving.done():
        serving.result()


async def _lines() -> AsyncGenerator[bytes]:
    """Yield the client's lines that can be read.

    A thread waits for them: not every kind of file that may be our stdin can be watched.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        with os.fdopen(os.dup(0), "rb") as source:
            for line in source:
                loop.call_soon_threadsafe(arrived.put_nowait, line)
        loop.call_soon_threadsafe(arrived.put_nowait, b"")

    threading.Thread(target=read, daemon=True).start()
    while line := await arrived.get():
        if fit := readable(line):
            yield fit
