"""Programs of agents: found where they are, and fetched by nothing but the command for it."""

import asyncio
import os
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from quarterdeck.domain.known_agents import KNOWN_AGENTS
from quarterdeck.domain.roles import RoleDefinition
from quarterdeck.errors import AgentNotInstalled, InstallFailed
from quarterdeck.repositories.agent_programs import HomeAgentPrograms, resolve_command

CLAUDE = KNOWN_AGENTS["claude"]
VIBE = KNOWN_AGENTS["vibe"]


class Machine:
    """A PATH of the test's own, with the programs it puts there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.mkdir()
        self.said: list[str] = []

    def has(self, name: str, script: str = "") -> Path:
        program = self.path / name
        program.write_text(f"#!/bin/sh\n{dedent(script)}", encoding="utf-8")
        program.chmod(0o755)
        return program

    def has_node(self, version: str = "v22.4.1") -> None:
        self.has("node", f"echo {version}")

    def calls(self) -> list[str]:
        return (self.path / "calls").read_text(encoding="utf-8").splitlines()


NPM = """
echo "npm $*" >> "$(dirname "$0")/calls"
echo "added 1 package"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/.bin"
printf '#!/bin/sh\\n' > "$2/node_modules/.bin/claude-agent-acp"
"""
UV = """
echo "uv $*" >> "$(dirname "$0")/calls"
for last; do :; done
if [ "$1" = venv ]; then mkdir -p "$last/bin"; else touch "$(dirname "$4")/vibe-acp"; fi
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path / "bin")
    for name in ("sh", "mkdir", "dirname", "touch", "sleep"):
        found = shutil.which(name)
        assert found is not None
        (made.path / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(made.path))
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


async def install(home: Path, machine: Machine, name: str = "claude") -> Path:
    programs = HomeAgentPrograms(home)
    return (await programs.install(KNOWN_AGENTS[name], machine.said.append)).path


def command(home: Path, **fields: object) -> tuple[str, ...]:
    return resolve_command(RoleDefinition.model_validate(fields), home)


@pytest.mark.usefixtures("machine")
def test_what_is_missing_is_an_error_that_names_the_command_for_it(home: Path) -> None:
    with pytest.raises(AgentNotInstalled) as missing:
        command(home, agent="claude")
    assert missing.value.hint == "run 'quarterdeck roles install claude'"


@pytest.mark.usefixtures("machine")
def test_a_missing_agent_that_cannot_be_fetched_is_left_to_its_user(home: Path) -> None:
    with pytest.raises(AgentNotInstalled) as missing:
        command(home, agent="goose")
    assert "PATH" in (missing.value.hint or "")


def test_what_is_on_path_is_used(home: Path, machine: Machine) -> None:
    program = machine.has("gemini")
    assert command(home, agent="gemini") == (str(program), "--acp")


def test_a_command_of_the_users_own_is_found_on_path(home: Path, machine: Machine) -> None:
    program = machine.has("mine")
    assert command(home, command=["mine", "--acp"]) == (str(program), "--acp")
    assert command(home, command=[str(program)]) == (str(program),)
    with pytest.raises(AgentNotInstalled):
        command(home, command=["yours"])


def test_the_scripted_agent_is_this_python(home: Path) -> None:
    python, *arguments = command(home, agent="scripted")
    assert python == sys.executable
    assert arguments[-2:] == ["-m", "quarterdeck.testing.scripted_agent"]


async def test_the_pinned_version_is_fetched_by_npm_into_the_home(
    home: Path, machine: Machine
) -> None:
    machine.has_node()
    machine.has("npm", NPM)
    path = await install(home, machine)

    assert CLAUDE.package is not None
    folder = home / "agents" / "claude" / CLAUDE.package.version
    assert path == folder / "node_modules" / ".bin" / "claude-agent-acp"
    (call,) = machine.calls()
    assert call.startswith(f"npm install --prefix {folder} ")
    assert call.endswith(f" {CLAUDE.package.name}@{CLAUDE.package.version}")
    assert "--ignore-scripts" in call
    assert machine.said == ["added 1 package"]


async def test_a_package_that_needs_a_script_of_its_own_gets_that_one_run(
    home: Path, machine: Machine
) -> None:
    machine.has("node", 'echo "node $*" >> "$(dirname "$0")/calls"; echo v22.4.1')
    machine.has("npm", NPM.replace("claude-agent-acp", "opencode"))
    path = await install(home, machine, "opencode")

    _version, fetched, script = machine.calls()
    assert "--ignore-scripts" in fetched
    assert script == f"node {path.parents[1]}/opencode-ai/postinstall.mjs"


async def test_an_install_whose_script_fails_leaves_nothing(home: Path, machine: Machine) -> None:
    machine.has("node", '[ "$1" = --version ] && echo v22.4.1 || { echo no binary; exit 1; }')
    machine.has("npm", NPM.replace("claude-agent-acp", "opencode"))
    with pytest.raises(InstallFailed, match="node ended with code 1: no binary"):
        await install(home, machine, "opencode")
    with pytest.raises(AgentNotInstalled):
        command(home, agent="opencode")


async def test_what_was_fetched_wins_over_what_is_on_path(home: Path, machine: Machine) -> None:
    machine.has_node()
    machine.has("npm", NPM)
    machine.has("claude-agent-acp")
    path = await install(home, machine)
    assert command(home, agent="claude") == (str(path),)


async def test_fetching_again_fetches_nothing(home: Path, machine: Machine) -> None:
    machine.has_node()
    machine.has("npm", NPM)
    assert await install(home, machine) == await install(home, machine)
    assert len(machine.calls()) == 1


async def test_an_install_that_fails_says_why_and_leaves_nothing(
    home: Path, machine: Machine
) -> None:
    machine.has_node()
    machine.has("npm", f"{NPM}\necho no such version >&2; exit 1")
    with pytest.raises(InstallFailed, match=r"npm ended with code 1: .*no such version"):
        await install(home, machine)
    assert [path.name for path in (home / "agents" / "claude").iterdir()] == [".lock"]
    with pytest.raises(AgentNotInstalled):
        command(home, agent="claude")


async def test_a_package_without_the_program_is_not_installed(home: Path, machine: Machine) -> None:
    machine.has_node()
    machine.has("npm", "exit 0")
    with pytest.raises(InstallFailed, match="no program 'claude-agent-acp'"):
        await install(home, machine)


async def test_half_an_install_is_never_used_and_the_next_one_replaces_it(
    home: Path, machine: Machine
) -> None:
    machine.has_node()
    machine.has("npm", NPM)
    path = await install(home, machine)
    folder = path.parents[2]
    (folder / ".complete").unlink()  # as a killed process leaves it
    (folder / "rest").touch()
    with pytest.raises(AgentNotInstalled):
        command(home, agent="claude")
    await install(home, machine)
    assert command(home, agent="claude") == (str(path),)
    assert not (folder / "rest").exists()


async def test_an_install_that_is_cancelled_ends_its_processes_and_leaves_nothing(
    home: Path, machine: Machine
) -> None:
    machine.has_node()
    machine.has("npm", f'echo $$ > "{machine.path}/pid"; echo started; sleep 600')
    started = asyncio.Event()
    programs = HomeAgentPrograms(home)
    running = asyncio.create_task(programs.install(CLAUDE, lambda _line: started.set()))
    await asyncio.wait_for(started.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    pid = int((machine.path / "pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert [path.name for path in (home / "agents" / "claude").iterdir()] == [".lock"]


async def test_two_installs_of_one_agent_do_not_meet(home: Path, machine: Machine) -> None:
    machine.has_node()
    machine.has("npm", "echo started; sleep 600")
    started = asyncio.Event()
    programs = HomeAgentPrograms(home)
    first = asyncio.create_task(programs.install(CLAUDE, lambda _line: started.set()))
    try:
        await asyncio.wait_for(started.wait(), 10)
        with pytest.raises(InstallFailed, match="another process is installing it"):
            await install(home, machine)
    finally:
        first.cancel()
        await asyncio.wait([first])


@pytest.mark.parametrize("version", ["v20.20.2", "nonsense"])
async def test_a_node_that_is_too_old_is_refused_with_what_to_install(
    home: Path, machine: Machine, version: str
) -> None:
    machine.has_node(version)
    machine.has("npm", NPM)
    with pytest.raises(InstallFailed, match="it needs Node 22") as refused:
        await install(home, machine)
    assert "install Node 22 or newer" in (refused.value.hint or "")


async def test_without_npm_it_is_said_what_to_install(home: Path, machine: Machine) -> None:
    with pytest.raises(InstallFailed, match="not on PATH") as refused:
        await install(home, machine)
    assert "install Node 22" in (refused.value.hint or "")


async def test_a_python_package_is_fetched_by_uv_where_there_is_one(
    home: Path, machine: Machine
) -> None:
    machine.has("uv", UV)
    path = await install(home, machine, "vibe")
    assert VIBE.package is not None
    venv, fetch = machine.calls()
    assert venv == f"uv venv --python >=3.12 {path.parents[1]}"
    assert fetch.endswith(f" {VIBE.package.name}=={VIBE.package.version}")
    assert command(home, agent="vibe") == (str(path),)


async def test_a_python_package_without_uv_is_fetched_by_pip_of_a_python_that_is_new_enough(
    home: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.version_info", (3, 11, 7))
    pip = f'#!/bin/sh\necho "pip $*" >> {machine.path}/calls\ntouch "$(dirname "$0")/vibe-acp"\n'
    made = f"""
    echo "python $*" >> {machine.path}/calls
    mkdir -p "$3/bin"
    printf '%s' '{pip}' > "$3/bin/python"
    {shutil.which("chmod", path=os.defpath)} +x "$3/bin/python"
    """
    machine.has("python3.13", made)
    path = await install(home, machine, "vibe")
    venv, fetch = machine.calls()
    assert venv == f"python -m venv {path.parents[1]}"
    assert fetch.startswith("pip -m pip install ")
    assert fetch.endswith("mistral-vibe==3.0.3")


async def test_without_a_python_that_is_new_enough_it_is_said_what_to_install(
    home: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.version_info", (3, 11, 7))
    with pytest.raises(InstallFailed, match=r"it needs Python 3\.12"):
        await install(home, machine, "vibe")


@pytest.mark.parametrize("name", ["goose", "scripted"])
async def test_what_has_no_package_is_not_fetched(home: Path, machine: Machine, name: str) -> None:
    with pytest.raises(InstallFailed):
        await install(home, machine, name)
    assert not (home / "agents").exists()
