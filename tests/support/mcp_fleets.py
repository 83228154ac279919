"""A fleet of scripted agents: a home with projects and roles, and a client that commands it."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from quarterdeck.testing import Deck, Reply, quarterdeck_for_tests
from tests.support.clients import ToolClient, connected
from tests.support.fleet_schemas import ANSWERS, ERROR, complaints
from tests.support.git import git, new_repository

PATIENCE_SECONDS = 40
PROGRAM = [sys.executable, "-P", "-m", "quarterdeck.testing.scripted_agent"]
# Each does one thing that agents do at their worst, or at their slowest.
ROLES = {
    "coder": {"agent": "scripted"},
    "hasty": {"agent": "scripted", "permission": {"question_seconds": 1}},
    "silent": {"command": [*PROGRAM, "--silent"]},
    "broken": {"command": [*PROGRAM, "--exit", "3"]},
    "absent": {"agent": "claude", "env": {"PATH": "/nowhere"}},
}

Json = dict[str, Any]


@dataclass(frozen=True)
class McpFleet:
    """The fleet and its client; every answer and refusal is held to the contract's schemas."""

    deck: Deck
    client: ToolClient
    folder: Path

    async def reply(self, tool: str, /, **arguments: object) -> Reply:
        reply = await self.client.call(tool, **arguments)
        assert complaints(ERROR if reply.is_error else ANSWERS[tool], reply.body) == [], tool
        return reply

    async def call(self, tool: str, /, **arguments: object) -> Json:
        return (await self.reply(tool, **arguments)).answer

    async def refused(self, tool: str, /, **arguments: object) -> Json:
        return (await self.reply(tool, **arguments)).error

    async def create(
        self, name: str, task: str = "/say ahoy", *, project: str = "Site", role: str = "coder"
    ) -> Json:
        return await self.call("create_agent", name=name, project=project, task=task, role=role)

    async def idle(
        self, name: str, task: str = "/say ahoy", *, project: str = "Site", role: str = "coder"
    ) -> Json:
        """Create an agent and wait until it is done with its first task."""
        await self.create(name, task, project=project, role=role)
        return await self.until(name, "idle")

    async def busy(self, name: str, *, project: str = "Site") -> Path:
        """Create an agent that works until the returned file is there."""
        gate = self.gate(name)
        await self.create(name, f"/say at work\n/wait {gate}", project=project)
        await self.said(name, "at work")
        return gate

    async def asking(self, name: str, *, role: str = "coder") -> Json:
        """Create an agent that asks; return the question."""
        await self.create(name, "/ask May I?\n/say done", role=role)
        await self.call("wait_for_agent", agent_names=[name], until="question")
        [question] = (await self.call("question_list", agent_name=name))["questions"]
        return question

    async def until(self, name: str, status: str) -> Json:
        with anyio.fail_after(PATIENCE_SECONDS):
            while (shown := await self.show(name))["status"] != status:
                await self.call(
                    "wait_for_agent", agent_names=[name], until="changed", timeout_seconds=1
                )
        return shown

    async def said(self, name: str, text: str) -> None:
        with anyio.fail_after(PATIENCE_SECONDS):
            while text not in [  # noqa: ASYNC110 - another process makes it true
                entry["message"] for entry in await self.log(name)
            ]:
                await anyio.sleep(0.02)

    async def show(self, name: str) -> Json:
        answer = await self.call("show_agent", agent_name=name, include_metadata=False)
        return answer["agent"]

    async def history(self, name: str) -> list[Json]:
        return (await self.call("show_agent_task_history", agent_name=name))["tasks"]

    async def log(self, name: str) -> list[Json]:
        return (await self.call("show_agent_log", agent_name=name, page_size=100))["logs"]

    def gate(self, name: str) -> Path:
        return self.folder / f"go-{name}"


@asynccontextmanager
async def fleet(
    folder: Path, *, database_url: str | None = None, projects: Json | None = None
) -> AsyncGenerator[McpFleet]:
    """Run a fleet in `folder`; without `projects` there is Site, a repository."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    if projects is None:
        projects = {"Site": {"repository": str(new_repository(folder / "site"))}}
    (home / "config.toml").write_text(toml({"projects": projects, "roles": ROLES}), "utf-8")
    async with (
        quarterdeck_for_tests(home, database_url) as deck,
        connected(deck.server) as client,
    ):
        yield McpFleet(deck, client, folder)


def repository_with(folder: Path, taskfile: str | None) -> str:
    """Make a repository that has this Taskfile, and return where it is."""
    new_repository(folder)
    if taskfile is not None:
        (folder / "Taskfile.yml").write_text(taskfile, encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message=Say what there is to say")
    return str(folder)


def toml(tables: Json, above: str = "") -> str:
    """Write tables of strings, numbers, lists and tables, which JSON spells the same."""
    lines: list[str] = []
    for name, table in tables.items():
        path = f"{above}.{json.dumps(name)}" if above else name
        plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
        if above:
            lines.append(f"[{path}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
        lines.append(toml({k: v for k, v in table.items() if isinstance(v, dict)}, path))
    return "\n".join(lines)
