"""One keeper process, and the socket between it and the daemon."""

import asyncio
import json
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

PROGRAM = "quarterdeck.clients.processes.program"

Event = Mapping[str, Any]


class Link:
    """Open it with `Link.open`; whoever opens it listens until the keeper is gone."""

    def __init__(self, process: asyncio.subprocess.Process, ours: socket.socket) -> None:
        self._process = process
        self._socket = ours
        self._sending = asyncio.Lock()
        self.is_open = True

    @classmethod
    async def open(cls, log: Path) -> "Link":
        """Start a keeper whose complaints go to `log`."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs, log.open("wb") as complaints:
                # -P: the working directory is no place to import from.
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", PROGRAM, str(theirs.fileno())),
                    pass_fds=[theirs.fileno()],
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=complaints,
                    stderr=complaints,
                    start_new_session=True,
                )
        except BaseException:
            ours.close()
            raise
        return cls(process, ours)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def send(self, request: Mapping[str, object], files: Sequence[int] = ()) -> None:
        """Ask for something.

        Raises:
            ConnectionError: the keeper is gone.
        """
        line = json.dumps(request).encode() + b"\n"
        async with self._sending:
            if not self.is_open:
                raise ConnectionResetError
            if files:
                await self._send_files(files)
            await self._loop.sock_sendall(self._socket, line)

    async def _send_files(self, files: Sequence[int]) -> None:
        while True:
            try:
                # One byte, so that it goes as a whole; the keeper passes over an empty line.
                socket.send_fds(self._socket, [b"\n"], files)
            except BlockingIOError:
                await self._loop.sock_sendall(self._socket, b"\n")
            else:
                return

    async def listen(self, note: Callable[[Event], None]) -> int:
        """Hand on what the keeper tells until it is gone; return its exit code.

        That is 0 if nothing is left of what it had started.
        """
        unread = b""
        while received := await self._receive():
            *lines, unread = (unread + received).split(b"\n")
            for line in lines:
                note(json.loads(line))
        self.is_open = False
        self._socket.close()
        return await self._process.wait()

    async def _receive(self) -> bytes:
        try:
            return await self._loop.sock_recv(self._socket, 1 << 16)
        except ConnectionError:
            return b""

    def let_go(self) -> None:
        """Have the keeper end everything, and itself; what it tells meanwhile is still heard."""
        if self.is_open:
            with suppress(OSError):  # it is gone already
                self._socket.shutdown(socket.SHUT_WR)

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()
