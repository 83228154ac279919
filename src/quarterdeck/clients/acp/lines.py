"""A stream of bytes as lines, none longer than we care to hold."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

LONGEST = 16 * 2**20
_CHUNK = 64 * 1024


class ByteSource(Protocol):
    async def read(self, n: int = -1, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a line that was left out."""

    size: int


class _Line:
    """A line as far as it has come; beyond the limit, only its size is known."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = bytearray()
        self._size = 0

    def add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._longest:
            self._held += part
        else:
            self._held.clear()

    def take(self) -> bytes | TooLong:
        line = bytes(self._held) if self._size <= self._longest else TooLong(self._size)
        self._held.clear()
        self._size = 0
        return line


async def lines_of(source: ByteSource, *, longest: int = LONGEST) -> AsyncIterator[bytes | TooLong]:
    """Yield each line without its end; the next bytes are read when the next line is wanted."""
    line = _Line(longest)
    while chunk := await source.read(_CHUNK):
        *ends, rest = chunk.split(b"\n")
        for part in ends:
            line.add(part)
            yield line.take()
        line.add(rest)
        # A reader with bytes at hand does not let others run, and other agents are to be heard too.
        await asyncio.sleep(0)
    if last := line.take():
        yield last
