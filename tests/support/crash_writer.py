"""A process to be killed: 32 tasks store entries and print each one that was acknowledged."""

import asyncio
import os
import sys
from itertools import count

from quarterdeck.app import Quarterdeck, open_quarterdeck
from quarterdeck.services.calls import Call
from quarterdeck.settings import load_settings

WRITERS = 32


async def write_on(quarterdeck: Quarterdeck, name: str) -> None:
    for number in count():
        key = f"{name}-{number}"
        call = Call(surface="cli", name="cli.memory_store", input={"key": key})
        await quarterdeck.calls.serve(
            call, lambda key=key: quarterdeck.memory.store(key, {"key": key})
        )
        # One unbuffered write a line, so that what arrives was acknowledged before the kill.
        os.write(sys.stdout.fileno(), f"{key} {call.call_id}\n".encode())


async def main(home: str, url: str, run: str) -> None:
    flags = {"home": home, "database.url": url or None}
    async with (
        open_quarterdeck(load_settings(flags=flags, environ={})) as quarterdeck,
        quarterdeck.serving(),
        asyncio.TaskGroup() as writers,
    ):
        for number in range(WRITERS):
            writers.create_task(write_on(quarterdeck, f"{run}-{number}"))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
