"""Lines of stdin, read beside everything else."""

import codecs
import os
import sys
import threading
from collections.abc import Callable

READ_BYTES = 4096

Hear = Callable[[str | None], None]


def listen_to_stdin(hear: Hear) -> None:
    """Have `hear` called with each line, and with nothing at the end, by a thread of its own."""
    threading.Thread(target=_read, args=(sys.stdin.fileno(), hear), daemon=True).start()


def _read(stdin: int, hear: Hear) -> None:
    # Not through `sys.stdin`, whose lock Python would want when it ends, while this waits in a
    # read that only the user can end.
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    begun = ""
    while part := os.read(stdin, READ_BYTES):
        *lines, begun = (begun + decode(part)).split("\n")
        for line in lines:
            hear(line)
    if begun:
        hear(begun)
    hear(None)
