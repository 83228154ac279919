"""The pipes between the daemon and one agent; the keeper is not in between."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

# What an agent writes while nobody reads stays in its pipe, not in our memory.
MOST_UNREAD_BYTES = 64 << 10
LAST_BYTES_SECONDS = 1


class _Pipe(asyncio.StreamReaderProtocol):
    """The usual protocol of streams, which also tells when its pipe is closed."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__(reader)
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.ended.set_result(None)


class Stdio:
    def __init__(
        self,
        into: tuple[asyncio.WriteTransport, _Pipe],
        out_of: tuple[asyncio.ReadTransport, _Pipe],
        stdout: asyncio.StreamReader,
    ) -> None:
        self._into, self._into_pipe = into
        self._out_of, self._out_of_pipe = out_of
        loop = asyncio.get_running_loop()
        self.stdin = asyncio.StreamWriter(self._into, self._into_pipe, None, loop)
        self.stdout = stdout

    async def close(self) -> None:
        """Let go of the pipes of an agent that is gone, after its last output has come in."""
        self._into.close()
        self._out_of.resume_reading()
        ended = (self._into_pipe.ended, self._out_of_pipe.ended)
        await asyncio.wait(ended, timeout=LAST_BYTES_SECONDS)
        # Left open only by a process that we may not end, or when nobody reads.
        if not self._into_pipe.ended.done():
            self._into.abort()
        self._out_of.close()


async def open_stdio(stderr: Path) -> tuple[Stdio, Sequence[int]]:
    """Return our ends, and the three files of the agent, which the caller closes."""
    with ExitStack() as undo:
        errors = os.open(stderr, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        undo.callback(os.close, errors)
        their_stdin, our_stdin = os.pipe()
        undo.callback(os.close, their_stdin)
        undo.callback(os.close, our_stdin)
        our_stdout, their_stdout = os.pipe()
        undo.pop_all()  # all are there
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MOST_UNREAD_BYTES)
    into = await loop.connect_write_pipe(
        lambda: _Pipe(asyncio.StreamReader()), os.fdopen(our_stdin, "wb", 0)
    )
    out_of = await loop.connect_read_pipe(lambda: _Pipe(reader), os.fdopen(our_stdout, "rb", 0))
    return Stdio(into, out_of, reader), (their_stdin, their_stdout, errors)
