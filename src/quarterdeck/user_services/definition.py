"""What is to be kept running."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quarterdeck.errors import Conflict

# How long a daemon may take to bring its work to an end.
STOP_SECONDS = 60
RESTART_SECONDS = 2
CONFLICT_CODE = Conflict.exit_code


@dataclass(frozen=True)
class Definition:
    """One command, in one folder; secrets have no place in `env`, anyone may read a unit."""

    command: tuple[str, ...]
    folder: Path
    env: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class ServiceState:
    """What a service manager says of the service."""

    installed: bool
    running: bool
    starts_at_login: bool
    pid: int | None = None
