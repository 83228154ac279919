"""What the doctor looks at beside the home: the daemon, and what it was given to work with."""

import os
import shutil
from pathlib import Path

from quarterdeck import __version__
from quarterdeck.cli.checks import Check, failed
from quarterdeck.errors import QuarterdeckError

# Programs that agents and workspaces need sooner or later.
PROGRAMS = ("git",)
# Keys of the agents that people run most, and of the services they live in.
KEYS = (
    "ANTHROPIC_API_KEY",
    "CODER_SESSION_TOKEN",
    "CODEX_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
)


def daemon(home: Path) -> Check:
    from quarterdeck.daemon.address import find, is_alive
    from quarterdeck.daemon.control import ask

    address = find(home)
    if address is None:
        if is_alive(home):
            return Check("daemon", "warn", "it is starting or ending", "look again in a moment")
        return Check("daemon", "ok", "not running; the first client starts it")
    if ask(home, address) is None:
        found = f"process {address.pid} holds the home and does not answer at {address.url}"
        hint = "see 'quarterdeck logs'; 'quarterdeck down --now' ends it"
        return Check("daemon", "fail", found, hint)
    found = f"version {address.version} at {address.url}, process {address.pid}"
    if address.version != __version__:
        hint = "run 'quarterdeck upgrade'"
        return Check("daemon", "warn", f"{found}; this program is {__version__}", hint)
    return Check("daemon", "ok", found)


def path(home: Path) -> Check:
    """Look at the PATH that agents get: the daemon's, or the one it would inherit."""
    from quarterdeck.daemon.address import find
    from quarterdeck.daemon.control import ask

    address = find(home)
    asked = ask(home, address) if address else None
    effective = str(asked["path"]) if asked else os.environ.get("PATH", os.defpath)
    found = f"{'of the daemon' if asked else 'of this shell'}: {effective}"
    missing = [name for name in PROGRAMS if shutil.which(name, path=effective) is None]
    if missing:
        hint = "start the daemon from a shell that has them: 'quarterdeck down', then 'up --detach'"
        return Check("path", "warn", f"{found}; not found: {', '.join(missing)}", hint)
    return Check("path", "ok", found)


def keys(home: Path) -> Check:
    """Name the keys that are there; their values are shown nowhere."""
    from quarterdeck.daemon.environment import INHERITED, read_environment_file

    try:
        kept = read_environment_file(home)
    except QuarterdeckError as error:
        return failed("keys", error)
    here = [name for name in KEYS if name in INHERITED and os.environ.get(name)]
    present = sorted({*kept, *here})
    only_here = [name for name in KEYS if os.environ.get(name) and name not in present]
    found = f"present: {', '.join(present)}" if present else f"none in {home / 'env'}"
    if only_here:
        found = f"{found}; in this shell alone, which agents do not see: {', '.join(only_here)}"
    return Check("keys", "ok", found)


def clients() -> Check:
    """Name the MCP clients of this user that launch us."""
    from quarterdeck.client_configs.survey import configured_clients

    surveyed = configured_clients(os.environ)
    configured = [client.title for client in surveyed if client.configured]
    others = [client.title for client in surveyed if client.found and not client.configured]
    broken = [f"{client.title} ({client.problem})" for client in surveyed if client.problem]
    parts = [
        f"configured: {', '.join(configured)}" if configured else "none configured",
        f"also on this machine: {', '.join(others)}" if others else "",
        f"cannot be read: {', '.join(broken)}" if broken else "",
    ]
    found = "; ".join(part for part in parts if part)
    if broken:
        return Check("clients", "warn", found, "mend the file, then run 'quarterdeck install'")
    return Check("clients", "ok", found)
