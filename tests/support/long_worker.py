"""A process that begins a long operation, prints the id of its trace, and waits."""

import asyncio
import sys

import anyio

from quarterdeck.app import open_quarterdeck
from quarterdeck.domain.effect import Effect
from quarterdeck.services.calls import Call
from quarterdeck.services.operation import Operation, Operations, operation
from quarterdeck.settings import load_settings


class Work:
    """A service whose one operation never ends by itself."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations

    @operation("work.run", Effect.WRITE, long=True)
    async def run(self, op: Operation) -> None:
        sys.stdout.write(f"{op.run.trace_id}\n")
        sys.stdout.flush()
        await anyio.sleep_forever()


async def main(home: str, url: str) -> None:
    flags = {"home": home, "database.url": url or None}
    async with (
        open_quarterdeck(load_settings(flags=flags, environ={})) as quarterdeck,
        quarterdeck.serving(),
    ):
        work = Work(quarterdeck.memory.operations)
        await quarterdeck.calls.serve(Call(surface="cli", name="cli.work", input={}), work.run)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
