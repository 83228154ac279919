"""What the doctor looks at: each check says what it found and, unless all is well, what to do.

No check changes anything.
"""

import os
import platform
import shutil
import sqlite3
import stat
import sys
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from quarterdeck import __version__

if TYPE_CHECKING:
    from quarterdeck.cli.program import Program
    from quarterdeck.errors import QuarterdeckError
    from quarterdeck.ports.database import Database, DatabaseStatus
    from quarterdeck.settings import Settings

OLDEST_PYTHON = (3, 11)
MEGABYTE = 1024 * 1024
SCARCE_BYTES = 500 * MEGABYTE
TOO_FEW_BYTES = 50 * MEGABYTE
FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Check:
    """One finding; `hint` says what to do about it."""

    name: str
    status: Literal["ok", "warn", "fail"]
    found: str
    hint: str | None = None


def failed(name: str, error: "QuarterdeckError", *, hint: str | None = None) -> Check:
    """Return the check that ended in `error`."""
    reason = error.details.get("reason")
    found = f"{error.message} ({reason})" if reason else error.message
    return Check(name, "fail", found, hint or error.hint)


def python() -> Check:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", "fail", found, "install Python 3.11 or newer")
    return Check("python", "ok", found)


def version() -> Check:
    return Check("quarterdeck", "ok", __version__)


def sqlite() -> Check:
    found = f"{sqlite3.sqlite_version} with FTS5"
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error as error:
        hint = "use a Python whose SQLite has the FTS5 extension"
        return Check("sqlite", "fail", f"{sqlite3.sqlite_version} without FTS5: {error}", hint)
    return Check("sqlite", "ok", found)


def home(path: Path) -> Check:
    from quarterdeck.homes import current_mounts, network_kind

    if kind := network_kind(Path(os.path.realpath(path)), current_mounts()):
        found = f"{path} is on a network file system ({kind}), where SQLite's locks do not hold"
        return Check("home", "fail", found, "set QUARTERDECK_HOME to a folder on a local disk")
    nearest = next(folder for folder in (path, *path.parents) if folder.exists())
    hint = "set QUARTERDECK_HOME to a folder that you may write to"
    if not nearest.is_dir():
        return Check("home", "fail", f"{nearest} is not a folder", hint)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Check("home", "fail", f"{nearest} cannot be written to", hint)
    if nearest != path:
        return Check("home", "ok", f"{path} does not exist yet; the first start makes it")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & FOR_OTHERS:
        found = f"{path} is open to other users of this machine (mode {mode:04o})"
        return Check("home", "warn", found, f"run 'chmod 700 {path}'")
    return Check("home", "ok", f"{path} (mode {mode:04o})")


def disk(path: Path) -> Check:
    nearest = next(folder for folder in (path, *path.parents) if folder.exists())
    free = shutil.disk_usage(nearest).free
    found = f"{free // MEGABYTE} MB free"
    hint = "make room, or set QUARTERDECK_HOME to a folder on another disk"
    if free < TOO_FEW_BYTES:
        return Check("disk", "fail", found, hint)
    if free < SCARCE_BYTES:
        return Check("disk", "warn", found, hint)
    return Check("disk", "ok", found)


def config(settings: "Settings") -> Check:
    path = settings.config_path
    if not path.exists():
        return Check("config", "ok", f"no {path}; defaults and environment apply")
    mode = stat.S_IMODE(path.stat().st_mode)
    if settings.origin_of("database.url").startswith("config file") and mode & FOR_OTHERS:
        found = f"{path} may hold a password and is open to other users (mode {mode:04o})"
        return Check("config", "warn", found, f"run 'chmod 600 {path}'")
    return Check("config", "ok", f"{path} is sound")


def database(database: "Database", settings: "Settings") -> Check:
    from quarterdeck.errors import StorageUnavailable

    try:
        status = database.status()
    except StorageUnavailable as error:
        return failed("database", error, hint=_repair(settings))
    found = f"{status.kind} {status.place}, {_progress(status)}"
    if status.state == "ahead":
        hint = "install the newer Quarterdeck, or choose another QUARTERDECK_HOME"
        return Check("database", "fail", found, hint)
    if status.state != "current" and status.kind == "postgresql":
        return Check("database", "fail", found, "run 'quarterdeck db upgrade'")
    if problems := database.problems():
        return Check("database", "fail", f"{found}: {'; '.join(problems)}", _repair(settings))
    return Check("database", "ok", f"{found}, {_durability(status, settings)}")


async def server(program: "Program", settings: "Settings") -> Check:
    tools = await program.count_tools(settings)
    found = f"the server starts and offers {tools} tools"
    if tools == 0:
        hint = "server.toolsets and server.read_only leave none over; see 'quarterdeck config show'"
        return Check("mcp", "warn", found, hint)
    return Check("mcp", "ok", found)


def telemetry(settings: "Settings") -> Check:
    is_installed = _is_importable("opentelemetry.exporter.otlp.proto.http")
    if settings.telemetry.otlp_endpoint is None:
        extra = "the otel extra is installed" if is_installed else "the otel extra is not installed"
        return Check("telemetry", "ok", f"off; {extra}")
    if not is_installed:
        found = "telemetry.otlp_endpoint is set, but the exporter is not installed"
        return Check("telemetry", "fail", found, "pip install 'quarterdeck[otel]'")
    return Check("telemetry", "ok", "spans are sent to telemetry.otlp_endpoint")


def _is_importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _progress(status: "DatabaseStatus") -> str:
    if status.state == "new":
        return "nothing stored yet"
    if status.state == "behind" and status.kind == "sqlite":
        return f"revision {status.revision}; the next start upgrades it to {status.needed}"
    if status.state == "current":
        return f"revision {status.revision}"
    return f"revision {status.revision}, this version needs {status.needed}"


def _durability(status: "DatabaseStatus", settings: "Settings") -> str:
    if status.kind == "postgresql":
        return "durable as the server is configured"
    if settings.database.durability == "full":
        return "survives a power loss"
    return "survives a killed process, but not a power loss"


def _repair(settings: "Settings") -> str:
    if settings.database.url is not None:
        return "see that the server runs and that database.url names it, its user and password"
    backups = settings.home / "backups"
    return (
        f"stop all of Quarterdeck and move {settings.database_path} away; {backups} may have a copy"
    )
