"""Daemons with a fleet: `quarterdeck up` as a process of its own, and an MCP client of it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import anyio
import anyio.to_thread
import fastmcp

from quarterdeck.daemon.address import find
from quarterdeck.daemon.key import read_key
from quarterdeck.testing import Reply, call_tool
from tests.support.git import new_repository
from tests.support.runtimes import SCRIPTED, eventually, marked
from tests.support.servers import QUARTERDECK, environment, said_until_ready

Json = dict[str, Any]

END_SECONDS = 30
# An agent is waited for in calls that are shorter than a client's own patience.
CALL_SECONDS = 20
WAIT_SECONDS = 50


@dataclass
class Yard:
    """A user's home before its daemon starts: a repository, a folder, and roles to choose from."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])
    roles: dict[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    settings: dict[str, object] = field(default_factory=dict[str, object])
    # The projects: a folder that all agents share, and a repository.
    shared: str = "yard"
    versioned: str = "story"

    def __post_init__(self) -> None:
        self.folder.mkdir()
        new_repository(self.repository)
        self.roles.setdefault("coder", {"agent": "scripted"})

    @property
    def deck(self) -> Path:
        return self.home / "quarterdeck"

    @property
    def folder(self) -> Path:
        """Return the folder that all agents share."""
        return self.home / self.shared

    @property
    def repository(self) -> Path:
        """Return the repository, of which each agent has a worktree."""
        return self.home / self.versioned

    @property
    def node(self) -> str:
        file = self.deck / "node"
        return file.read_text(encoding="utf-8").strip() if file.exists() else "nobody"

    def left(self) -> Sequence[int]:
        """Return the processes that belong to agents of this home."""
        return marked(self.node)()

    def write_config(self) -> None:
        self.deck.mkdir(mode=0o700, exist_ok=True)
        projects = {
            self.shared: {"folder": str(self.folder)},
            self.versioned: {"repository": str(self.repository)},
        }
        tables = {**self.settings, "projects": projects, "roles": self.roles}
        lines = [f"{key} = {json.dumps(value)}" for key, value in _flat(tables)]
        (self.deck / "config.toml").write_text("\n".join(lines), encoding="utf-8")

    @asynccontextmanager
    async def sailing(self) -> AsyncGenerator["Ship"]:
        """Start the daemon; afterwards it is gone, and its agents with it."""
        self.write_config()
        with (
            (self.home / "stderr.log").open("a") as stderr,
            subprocess.Popen(  # noqa: ASYNC220 - a test may wait for that
                [QUARTERDECK, "up", "--port", "0"],
                env=environment(self.home) | self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                encoding="utf-8",
            ) as process,
        ):
            try:
                await anyio.to_thread.run_sync(said_until_ready, process.stdout)
                address = find(self.deck)
                key = read_key(self.deck)
                assert address, "it says that it is ready"
                assert key, "it makes one before"
                async with fastmcp.Client(f"{address.url}/mcp", auth=key) as client:
                    yield Ship(self, process, client)
            finally:
                process.kill()
                with anyio.CancelScope(shield=True):
                    await eventually(lambda: not self.left())


def faulty(*flags: str) -> Mapping[str, object]:
    """Return a role whose agent has these faults."""
    return {"command": [sys.executable, "-P", *SCRIPTED[1:], *flags]}


class Ship:
    """A daemon that runs, and what a person does with its fleet."""

    def __init__(
        self, yard: Yard, process: "subprocess.Popen[str]", client: fastmcp.Client[Any]
    ) -> None:
        self.yard = yard
        self.process = process
        self._client = client

    async def call(self, tool: str, /, **arguments: object) -> Reply:
        return await call_tool(self._client, tool, arguments)

    async def answer(self, tool: str, /, **arguments: object) -> Json:
        """Return the answer of a call that succeeds."""
        return (await self.call(tool, **arguments)).answer

    async def error(self, tool: str, /, **arguments: object) -> Json:
        """Return the error of a call that does not."""
        return (await self.call(tool, **arguments)).error

    async def create(
        self, name: str, *lines: str, role: str = "coder", on: str | None = None
    ) -> Json:
        """Create an agent whose first task is these lines."""
        project, task = on or self.yard.shared, "\n".join(lines)
        return await self.answer("create_agent", name=name, project=project, role=role, task=task)

    async def start(self, name: str, *lines: str) -> Json:
        """Give an agent a task."""
        return await self.answer(
            "start_agent_task", agent_name=name, task_description="\n".join(lines)
        )

    async def show(self, name: str) -> Json:
        answer = await self.answer("show_agent", agent_name=name, include_metadata=False)
        return answer["agent"]

    async def tasks(self, name: str) -> list[Json]:
        """Return an agent's tasks, newest first."""
        return (await self.answer("show_agent_task_history", agent_name=name))["tasks"]

    async def log(self, name: str) -> list[Json]:
        """Return the newest entries of an agent's log, oldest first."""
        page = await self.answer("show_agent_log", agent_name=name, page_size=100)
        return list(reversed(page["logs"]))

    async def said(self, name: str) -> str:
        """Return an agent's log as one text."""
        return "\n".join(f"{entry['level']} {entry['message']}" for entry in await self.log(name))

    async def settled(self, *names: str) -> list[Json]:
        """Wait until agents are at rest; return how they stand."""
        with anyio.fail_after(WAIT_SECONDS):
            while True:
                answer = await self.answer(
                    "wait_for_agent", agent_names=list(names), timeout_seconds=CALL_SECONDS
                )
                if not answer["timed_out"]:
                    return answer["agents"]

    async def seen(self, name: str, condition: Callable[[Json], object]) -> Json:
        """Wait until an agent stands so; return how."""
        with anyio.fail_after(WAIT_SECONDS):
            while not condition(agent := await self.show(name)):  # noqa: ASYNC110 - as a person would
                await anyio.sleep(0.05)
            return agent

    async def is_at(self, name: str, word: str) -> None:
        """Wait until an agent has said a word."""
        with anyio.fail_after(WAIT_SECONDS):
            while word not in await self.said(name):  # noqa: ASYNC110 - as a person would
                await anyio.sleep(0.05)

    def kill(self) -> None:
        """End the daemon as a crash would, and leave everything as it is."""
        self.process.kill()
        self.process.wait(END_SECONDS)

    def stop(self) -> int:
        """Ask the daemon to end; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(END_SECONDS)


class Asker(Protocol):
    """Whoever can call tools."""

    async def answer(self, tool: str, /, **arguments: object) -> Json:
        """Return the answer of a call that succeeds."""
        ...


async def command(asker: Asker, name: str) -> None:
    """Do with an agent that another process runs all that can be done but delete it."""
    waiting = {"agent_names": [name], "timeout_seconds": 40}
    await asker.answer("restart_agent", agent_name=name)
    await asker.answer("wait_for_agent", **waiting)
    await asker.answer("start_agent_task", agent_name=name, task_description="/hang")
    canceled = await asker.answer("cancel_agent_task", agent_name=name)
    assert canceled["stopped"] is True
    await asker.answer("start_agent_task", agent_name=name, task_description="/ask May I?")
    await asker.answer("wait_for_agent", **waiting)
    (question,) = (await asker.answer("question_list", agent_name=name))["questions"]
    await asker.answer("question_answer", question_id=question["question_id"], kind="allow_once")
    (agent,) = (await asker.answer("wait_for_agent", **waiting))["agents"]
    assert agent["last_report"] == "permission: allow-once"
    await asker.answer("show_agent_diff", agent_name=name)


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(cast("Mapping[str, Any]", value), f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def is_running(pid: int) -> bool:
    """Say whether there is such a process, and not only what remains of it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return sys.platform != "linux" and _takes_signals(pid)
    return state != "Z"


def _takes_signals(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
