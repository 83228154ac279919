"""OpenTelemetry: spans leave the house only when the user named an exporter."""

from contextlib import AbstractContextManager

from quarterdeck import __version__
from quarterdeck.errors import InvalidSettings
from quarterdeck.services.operation import Span, no_span


def spans_to(endpoint: str | None) -> Span:
    """Return what opens a span for each operation.

    FastMCP opens one for each request by itself; both go to the same exporter.
    """
    if endpoint is None:
        return no_span
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InvalidSettings(
            "An OpenTelemetry endpoint is set but the exporter is not installed",
            details={"setting": "telemetry.otlp_endpoint"},
            hint="pip install 'quarterdeck[otel]'",
        ) from error
    about = Resource.create({"service.name": "quarterdeck", "service.version": __version__})
    provider = TracerProvider(resource=about)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    tracer = provider.get_tracer("quarterdeck", __version__)

    def span(name: str) -> AbstractContextManager[object]:
        return tracer.start_as_current_span(name)

    return span
