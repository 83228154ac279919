"""Standard input as the MCP SDK needs it: every line one that it can parse."""

import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, BinaryIO

from quarterdeck.stdin_lines import readable


@contextmanager
def readable_stdin() -> Generator[None]:
    """Let `sys.stdin` yield only lines that can be parsed.

    File descriptor 0 is moved away, so that no child of ours reads the client's messages.
    """
    private, before = os.dup(0), sys.stdin
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Not closed at the end: a thread may still wait in a read of it.
    source = os.fdopen(private, "rb", closefd=False)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(ReadableLines(source)), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


class ReadableLines(io.RawIOBase):
    """A stream of lines, those that cannot be parsed replaced by a request to refuse them."""

    def __init__(self, source: BinaryIO) -> None:
        """`source` is what the client writes."""
        super().__init__()
        self._source = source
        self._left = b""

    def readable(self) -> bool:
        """Say that this stream can be read, as its base class asks."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer has no type yet
        """Hand out what is left of a line, or wait for the next."""
        while not self._left:
            line = self._source.readline()
            if not line:
                return 0
            self._left = readable(line)
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size
