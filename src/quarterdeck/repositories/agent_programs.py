"""The programs of agents: fetched into the home, or found on PATH."""

import asyncio
import fcntl
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from quarterdeck.clients.packages import npm, pypi
from quarterdeck.domain.known_agents import SCRIPTED, KnownAgent, Package
from quarterdeck.domain.roles import RoleDefinition
from quarterdeck.errors import AgentNotInstalled, CannotWrite, InstallFailed
from quarterdeck.ports.agent_programs import InstalledProgram, Say

# Written last: a folder without it is what an install that was cut short has left.
COMPLETE = ".complete"
REGISTRIES = {"npm": npm, "pypi": pypi}


def resolve_command(role: RoleDefinition, home: Path) -> tuple[str, ...]:
    """Return the command that starts an agent of this role; nothing is fetched.

    A known agent is looked for among what was installed into the home, then on PATH.

    Raises:
        AgentNotInstalled: It names the command that fetches it.
    """
    known = role.known
    if known and known.name == SCRIPTED:
        # Without the present folder on its path: a workspace may have modules of our names.
        return (sys.executable, "-P", *known.command[1:])
    program, *arguments = known.command if known else role.command
    found = _installed(known, home) if known else None
    if place := found or shutil.which(program, path=role.env.get("PATH")):
        return (str(place), *arguments)
    name = known.name if known else Path(program).name
    raise AgentNotInstalled(name, program, can_be_fetched=bool(known and known.package))


class HomeAgentPrograms:
    """Implements `AgentPrograms` in the home."""

    def __init__(self, home: Path) -> None:
        """Programs are kept under `home/agents`, each version in a folder of its own."""
        self._home = home

    def resolve(self, role: RoleDefinition) -> tuple[str, ...]:
        """Return the command that starts an agent of this role; nothing is fetched."""
        return resolve_command(role, self._home)

    async def install(self, agent: KnownAgent, say: Say) -> InstalledProgram:
        """Fetch the agent's pinned version, unless it is there; half of one is never used."""
        package = agent.package
        if package is None:
            raise _cannot_be_fetched(agent)
        if path := _installed(agent, self._home):
            return InstalledProgram(path, package.version, is_new=False)
        folder = _folder(agent.name, package, self._home)
        try:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(agent.name, folder.parent):
                path = await _fetch(agent, package, folder, say)
        except OSError as error:
            raise CannotWrite(str(folder), error.strerror or str(error)) from error
        return InstalledProgram(path, package.version, is_new=True)


async def _fetch(agent: KnownAgent, package: Package, folder: Path, say: Say) -> Path:
    await asyncio.to_thread(_make_empty, folder)
    registry = REGISTRIES[package.registry]
    try:
        await registry.install(folder, package.name, package.version, needs=package.needs, say=say)
        if package.script:
            await npm.run_script(folder, package.name, package.script, say)
        path = registry.program(folder, agent.command[0])
        if not path.exists():
            problem = f"the package has no program {agent.command[0]!r}"
            raise InstallFailed(agent.name, problem, hint="report this as a bug")
        (folder / COMPLETE).touch()
    finally:
        if not (folder / COMPLETE).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return path


def _make_empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)


def _installed(agent: KnownAgent, home: Path) -> Path | None:
    if agent.package is None:
        return None
    folder = _folder(agent.name, agent.package, home)
    path = REGISTRIES[agent.package.registry].program(folder, agent.command[0])
    return path if (folder / COMPLETE).exists() and path.exists() else None


def _folder(name: str, package: Package, home: Path) -> Path:
    return home.absolute() / "agents" / name / package.version


@contextmanager
def _alone(name: str, folder: Path) -> Generator[None]:
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            problem = "another process is installing it"
            raise InstallFailed(name, problem, hint="wait for that to end") from error
        yield


def _cannot_be_fetched(agent: KnownAgent) -> InstallFailed:
    if agent.name == SCRIPTED:
        problem, hint = "it is part of Quarterdeck", "there is nothing to do"
    else:
        problem = "no package of it is known"
        hint = f"install {agent.command[0]!r} as its makers say; what is on PATH is used"
    return InstallFailed(agent.name, problem, hint=hint)
