"""Waiting for a commit that was handed over: a cancellation arrives after it, not instead of it.

The caller must learn that its write was committed, or it would record it as failed. A cancel
scope is shielded off; a plain `task.cancel()` gets through, as often as it is called, and is
handed on afterwards.
"""

import asyncio
from contextlib import suppress
from typing import TypeVar

import anyio

T = TypeVar("T")


async def finished(future: "asyncio.Future[T]") -> T:
    """Return the future's result even when the caller is cancelled meanwhile."""
    with anyio.CancelScope(shield=True):
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError as cancellation:
            while not future.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([future])
            cancel_again(cancellation)
    return future.result()


def cancel_again(cancellation: asyncio.CancelledError) -> None:
    """Deliver a caught cancellation at the task's next `await`, as the one request it was."""
    task = asyncio.current_task()
    assert task is not None, "coroutines run in tasks"
    # Two requests counted for one made would keep `asyncio.timeout` from knowing its own.
    task.uncancel()
    task.cancel(*cancellation.args)
