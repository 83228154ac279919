"""Restores an archive step by step: prints what it is at, and goes on when it is told to."""

import asyncio
import sys
from contextlib import nullcontext
from pathlib import Path

from quarterdeck.app import open_quarterdeck
from quarterdeck.repositories.sql import postgres_copies, sqlite_copies
from quarterdeck.services.calls import Call
from quarterdeck.settings import load_settings

sqlite_copies.PAGES = 8
postgres_copies.ROWS = 20


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def tell(what: str, done: int, total: int) -> None:
    say(f"{what} {done}/{total}")
    sys.stdin.readline()


async def main(home: str, url: str, archive: str) -> None:
    settings = load_settings(flags={"home": Path(home), "database.url": url or None}, environ={})
    async with open_quarterdeck(settings) as deck:
        await deck.calls.serve(
            Call("cli", "cli.restore", {}),
            lambda: deck.archives.restore(
                Path(archive), tell, confirm=lambda _plan: True, paused=nullcontext
            ),
        )
    say("restored")


asyncio.run(main(*sys.argv[1:]))
