"""The MCP clients that can be configured: where each keeps its file, and what it wants in it."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from quarterdeck.client_configs import json_edit, toml_edit
from quarterdeck.client_configs.launch import Launch

ClientId = Literal["claude-code", "claude-desktop", "cursor", "zed", "vscode", "codex", "gemini"]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Machine:
    """Whose files are meant."""

    environ: Mapping[str, str]
    platform: str = sys.platform

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or Path.home())

    def folder(self, variable: str, otherwise: str) -> Path:
        """Return the folder that a variable names, else one in the user's home."""
        named = self.environ.get(variable, "").strip()
        return Path(named) if named and Path(named).is_absolute() else self.home / otherwise

    @property
    def config(self) -> Path:
        """Return where programs with windows keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.folder("XDG_CONFIG_HOME", ".config")


class Dialect(NamedTuple):
    """How the text of a configuration file is read and edited."""

    data: Callable[[str], dict[str, object]]
    put: Callable[[str, list[str], object], str]
    remove: Callable[[str, list[str]], str]


JSON = Dialect(json_edit.data, json_edit.put, json_edit.remove)
TOML = Dialect(toml_edit.data, toml_edit.put, toml_edit.remove)


def plain_entry(launch: Launch) -> Entry:
    """Return what most clients want to know of a server."""
    env = {"env": dict(launch.env)} if launch.env else {}
    return {"command": launch.command, "args": list(launch.args), **env}


def typed_entry(launch: Launch) -> Entry:
    return {"type": "stdio", **plain_entry(launch)}


@dataclass(frozen=True)
class Client:
    """One client, as data; `programs` and `traces` tell whether it is on a machine."""

    id: ClientId
    title: str
    file: Callable[[Machine], Path]
    section: str = "mcpServers"
    entry: Callable[[Launch], Entry] = plain_entry
    dialect: Dialect = JSON
    programs: tuple[str, ...] = ()
    traces: Callable[[Machine], tuple[Path, ...]] = lambda _machine: ()

    def is_found(self, machine: Machine) -> bool:
        """Tell whether the client seems to be installed."""
        path = machine.environ.get("PATH", os.defpath)
        places = (self.file(machine), *self.traces(machine))
        return any(shutil.which(program, path=path) for program in self.programs) or any(
            place.exists() for place in places
        )


def _claude_code(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", "") / ".claude.json"


def _zed(machine: Machine) -> Path:
    # Zed keeps to ~/.config on macOS too, and its Flatpak has a folder of its own.
    if machine.platform == "darwin":
        return machine.home / ".config" / "zed"
    flatpak = machine.environ.get("FLATPAK_XDG_CONFIG_HOME")
    return (Path(flatpak) if flatpak else machine.config) / "zed"


def _vscode(machine: Machine) -> Path:
    local = machine.config / "Code"
    server = machine.home / ".vscode-server"
    # Under WSL and over SSH the editor is elsewhere, and its server here has a user file too.
    if not local.exists() and server.exists():
        return server / "data" / "User" / "mcp.json"
    return local / "User" / "mcp.json"


def _applications(name: str) -> Callable[[Machine], tuple[Path, ...]]:
    def places(machine: Machine) -> tuple[Path, ...]:
        bundles = (Path("/Applications"), machine.home / "Applications")
        return tuple(folder / name for folder in bundles) if machine.platform == "darwin" else ()

    return places


CLIENTS = (
    Client(
        "claude-code",
        "Claude Code",
        _claude_code,
        entry=typed_entry,
        programs=("claude",),
        traces=lambda machine: (machine.home / ".claude",),
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        lambda machine: machine.config / "Claude" / "claude_desktop_config.json",
        programs=("claude-desktop",),
        traces=lambda machine: (machine.config / "Claude", *_applications("Claude.app")(machine)),
    ),
    Client(
        "cursor",
        "Cursor",
        lambda machine: machine.home / ".cursor" / "mcp.json",
        programs=("cursor", "cursor-agent"),
        traces=lambda machine: (machine.home / ".cursor", *_applications("Cursor.app")(machine)),
    ),
    Client(
        "zed",
        "Zed",
        lambda machine: _zed(machine) / "settings.json",
        section="context_servers",
        programs=("zed", "zeditor"),
        traces=lambda machine: (_zed(machine), *_applications("Zed.app")(machine)),
    ),
    Client(
        "vscode",
        "VS Code",
        _vscode,
        section="servers",
        entry=typed_entry,
        programs=("code",),
        traces=lambda machine: (
            _vscode(machine).parent,
            *_applications("Visual Studio Code.app")(machine),
        ),
    ),
    Client(
        "codex",
        "Codex",
        lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
        section="mcp_servers",
        dialect=TOML,
        programs=("codex",),
        traces=lambda machine: (machine.folder("CODEX_HOME", ".codex"),),
    ),
    Client(
        "gemini",
        "Gemini CLI",
        lambda machine: machine.folder("GEMINI_CLI_HOME", "") / ".gemini" / "settings.json",
        programs=("gemini",),
        traces=lambda machine: (machine.folder("GEMINI_CLI_HOME", "") / ".gemini",),
    ),
)


def find_client(name: ClientId) -> Client:
    return next(client for client in CLIENTS if client.id == name)
