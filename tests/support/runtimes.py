"""Runtimes for the contract suite, and what they leave running."""

import os
import sys
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import psutil

from quarterdeck.domain.projects import Project
from quarterdeck.domain.roles import Role
from quarterdeck.ports.runtime import AgentSpec
from quarterdeck.repositories.runtimes.local import LocalRuntime, Owner
from quarterdeck.repositories.runtimes.patience import Patience
from quarterdeck.testing.runtime_contract import RuntimeHarness
from quarterdeck.testing.runtime_listener import RecordingListener

SCRIPTED = (sys.executable, "-m", "quarterdeck.testing.scripted_agent")
QUICK = Patience(handshake_seconds=20, session_seconds=20, good_order_seconds=5, signal_seconds=0.2)


def scripted_role(*flags: str, **settings: object) -> Role:
    """Return a role of the scripted agent, which keeps its conversations unless it has flags."""
    which = {"command": (*SCRIPTED, *flags)} if flags else {"agent": "scripted"}
    return Role.model_validate({"id": "r1", "name": "coder", **which, **settings})


@dataclass
class LocalSite:
    """A home and a project for local agents."""

    home: Path
    project: Project
    role: Role = field(default_factory=scripted_role)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    patience: Patience = QUICK
    node: str = field(default_factory=lambda: uuid.uuid4().hex)
    # What stands for the programs of known agents.
    commands: dict[str, Sequence[str]] = field(default_factory=lambda: {"scripted": SCRIPTED})

    @asynccontextmanager
    async def harness(self) -> AsyncGenerator[RuntimeHarness]:
        """Yield an open runtime, which is closed afterwards."""
        listener = RecordingListener()
        runtime = LocalRuntime(
            self.home,
            owner=Owner(self.node),
            environment=self.environment,
            command_of=self._command_of,
            patience=self.patience,
        )

        async def new_spec(name: str) -> AgentSpec:
            agent_id = uuid.uuid4().hex
            workspace = await runtime.plan(agent_id, name, self.project, self.role)
            return AgentSpec(agent_id, name, workspace, self.project, self.role)

        try:
            await runtime.open(listener)
            yield RuntimeHarness(runtime, listener, new_spec, marked(self.node))
        finally:
            await runtime.close()

    def _command_of(self, role: Role) -> Sequence[str]:
        return self.commands[role.agent] if role.agent else role.command


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until something is so that nobody tells."""
    with anyio.fail_after(20):
        while not condition():  # noqa: ASYNC110 - the machine has no event for it
            await anyio.sleep(0.02)


def marked(node: str) -> Callable[[], Sequence[int]]:
    """Return what finds the processes that carry the mark of a node."""

    def find() -> list[int]:
        return [process.pid for process in psutil.process_iter() if _is_of(process, node)]

    return find


def _is_of(process: psutil.Process, node: str) -> bool:
    try:
        return node in process.environ().get("QUARTERDECK_AGENT_MARK", "")
    except (psutil.Error, OSError):
        return False
