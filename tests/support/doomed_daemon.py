"""A daemon to be killed: starts agents, tells their process ids and its keeper's, and waits.

Arguments: a folder, a node, how many agents, and their command.
"""

import asyncio
import json
import sys
from pathlib import Path

from quarterdeck.clients.processes.keeper import Keeper


async def main(folder: Path, node: str, count: int, command: list[str]) -> None:
    keeper = Keeper(folder / "agents", node=node)
    agents = [
        await keeper.spawn(command, cwd=folder, env={}, stderr=folder / "stderr")
        for _ in range(count)
    ]
    pids = [pid for agent in agents for pid in json.loads(await agent.stdout.readline())]
    print(json.dumps([keeper.pid, *pids]), flush=True)  # noqa: T201 - the test reads it
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
