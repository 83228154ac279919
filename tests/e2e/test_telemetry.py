"""Spans leave a real server when an exporter is configured."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.raw_stdio import raw_stdio, tool_call

if TYPE_CHECKING:
    from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector(ThreadingHTTPServer):
    """An OTLP collector on loopback that keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiver)
        self.spans: list[Span] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Receiver(BaseHTTPRequestHandler):
    server: Collector  # pyright: ignore[reportIncompatibleVariableOverride] - always this one

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        export = ExportTraceServiceRequest.FromString(body)
        scopes = (scope for resource in export.resource_spans for scope in resource.scope_spans)
        self.server.spans += [span for scope in scopes for span in scope.spans]
        self.send_response(200 if self.path == "/v1/traces" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def collector() -> Generator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_call_sends_its_request_and_its_operation_as_one_trace(tmp_path: Path) -> None:
    with collector() as receiver:
        settings = {"QUARTERDECK_TELEMETRY_OTLP_ENDPOINT": receiver.url}
        with raw_stdio(tmp_path, settings) as server:
            server.send(tool_call(1, "memory_store", {"key": "k", "value": {}}))
            assert server.answer()["result"]["isError"] is False
            assert server.end()[0] == 0

    stored = next(span for span in receiver.spans if span.name == "memory.store")
    parent = next(span for span in receiver.spans if span.span_id == stored.parent_span_id)
    assert parent.name.startswith("tools/call")
    assert parent.trace_id == stored.trace_id
