"""A forwarder on loopback that adds a header to each request, for clients that cannot send one."""

import re
import socket
import threading
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager, suppress
from urllib.parse import urlsplit

_CONNECTION = re.compile(rb"\r\nconnection:[^\r]*", re.IGNORECASE)
_END_OF_HEAD = b"\r\n\r\n"
_PORTION = 65536


@contextmanager
def forwarded(url: str, header: str, value: str) -> Generator[str]:
    """Yield a base URL that leads to `url`; all other headers stay as they are sent."""
    added = f"{header}: {value}\r\nConnection: close\r\n".encode()
    target = urlsplit(url)
    assert target.hostname is not None
    with ExitStack() as stack:
        listener = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        forwarder = _Forwarder(listener, (target.hostname, target.port or 80), added)
        serving = threading.Thread(target=forwarder.serve, daemon=True)
        serving.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        # Closing alone does not wake the thread that accepts.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    serving.join()


class _Forwarder:
    def __init__(self, listener: socket.socket, target: tuple[str, int], added: bytes) -> None:
        self._listener = listener
        self._target = target
        self._added = added

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        """Pass on one request, after which the server closes, and all of its answer."""
        with client, suppress(OSError), socket.create_connection(self._target) as server:
            head, body = _read_head(client)
            line, _, headers = head.partition(b"\r\n")
            kept = _CONNECTION.sub(b"", b"\r\n" + headers).removeprefix(b"\r\n")
            server.sendall(line + b"\r\n" + self._added + kept + _END_OF_HEAD + body)
            threading.Thread(target=_pour, args=(client, server), daemon=True).start()
            _pour(server, client)


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    received = b""
    while _END_OF_HEAD not in received:
        portion = client.recv(_PORTION)
        if not portion:
            raise ConnectionError("the client left")
        received += portion
    head, _, body = received.partition(_END_OF_HEAD)
    return head, body


def _pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while portion := source.recv(_PORTION):
            target.sendall(portion)
        target.shutdown(socket.SHUT_WR)
