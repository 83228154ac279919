"""The messages in an HTTP answer, whichever of its two forms it has."""

from collections.abc import AsyncGenerator

import httpx2

STREAM = "text/event-stream"


async def messages_in(response: httpx2.Response) -> AsyncGenerator[str]:
    """Yield each message as one line, as it comes in."""
    if not response.headers.get("content-type", "").startswith(STREAM):
        if body := await response.aread():
            yield _one_line(body.decode())
        return
    async for event in httpx2.EventSource(response, max_event_size=None):
        if event.data:
            yield _one_line(event.data)


def _one_line(text: str) -> str:
    # In JSON, a line break is only ever white space.
    return text.replace("\r", " ").replace("\n", " ").strip()
