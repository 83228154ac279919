"""Prepares or removes a workspace in a process of its own, for tests that kill it on the way.

Run as a script: HOME-FOLDER REPOSITORY ACTION, where the action is prepare or remove.
"""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

from quarterdeck.repositories.runtimes.workspaces import Workspaces
from quarterdeck.repositories.workspaces import removing
from quarterdeck.repositories.workspaces.making import remove_folder

NAME, UNIQUE = "sony", "abcd1234"


async def unheard(line: str) -> None:
    """Drop what is reported."""


async def work(home: Path, repository: Path, action: str) -> None:
    workspaces = Workspaces(home)
    setup = os.environ.get("SETUP")
    plan = await workspaces.plan(
        NAME, UNIQUE, repository=repository, folder=None, base="main", setup=setup
    )
    if action == "prepare":
        await workspaces.prepare(plan, unheard)
        return
    if "STOP_HALF_WAY" in os.environ:
        removing.remove_folder = stop_half_way
    # The plan that was stored: planned anew, its branch would be taken.
    await workspaces.remove(replace(plan, branch=f"quarterdeck/{NAME}"), name=NAME)


def stop_half_way(folder: Path) -> None:
    """Remove git's records, but of the files no more than one, and stop there."""
    if not folder.name.endswith(".removed"):
        remove_folder(folder)
        return
    (folder / "story.txt").unlink()
    stage = Path(os.environ["STAGE"])
    (stage / "reached").write_text("reached", encoding="utf-8")
    (stage / "gate").read_text(encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
