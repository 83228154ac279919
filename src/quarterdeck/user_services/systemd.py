"""systemd's user services: the unit's text, and `systemctl --user`."""

import os
from collections.abc import Mapping
from pathlib import Path

from quarterdeck.errors import InvalidInput, Unavailable
from quarterdeck.user_services.command import run
from quarterdeck.user_services.definition import (
    CONFLICT_CODE,
    RESTART_SECONDS,
    STOP_SECONDS,
    Definition,
    ServiceState,
)

UNIT = "quarterdeck.service"


def unit_text(definition: Definition) -> str:
    """Return the unit; a specifier or an escape in a path means nothing but itself.

    Raises:
        InvalidInput: systemd would not take the program's path.
    """
    if set(definition.command[0]) & set("\"'\\"):
        raise InvalidInput(
            f"systemd starts no program whose path has quotes or backslashes:"
            f" {definition.command[0]!r}",
            hint="install Quarterdeck into a folder with a plainer name",
        )
    command = " ".join(map(_quoted, definition.command))
    environment = "".join(
        f"Environment={_quoted(f'{name}={value}')}\n" for name, value in definition.env.items()
    )
    # The colon keeps `$` in a path from being a variable. The dash lets the daemon make its home
    # if it is gone. Only the daemon is told to stop, because it ends what it has started itself.
    return (
        "[Unit]\n"
        "Description=Quarterdeck, an MCP server that commands coding agents\n"
        "\n"
        "[Service]\n"
        "Type=exec\n"
        f"ExecStart=:{command}\n"
        f"WorkingDirectory=-{_literal(str(definition.folder))}\n"
        f"{environment}"
        "Restart=on-failure\n"
        # Another daemon of the same home runs already.
        f"RestartPreventExitStatus={CONFLICT_CODE}\n"
        f"RestartSec={RESTART_SECONDS}\n"
        "KillMode=mixed\n"
        f"TimeoutStopSec={STOP_SECONDS}\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def _literal(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    escaped = _literal(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class Systemd:
    """Implements `ServiceManager`."""

    name = "systemd"

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Units belong to the user whose environment this is."""
        self._environ = environ
        config = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
        self.path = Path(config) / "systemd" / "user" / UNIT

    def text(self, definition: Definition) -> str:
        return unit_text(definition)

    def check(self) -> None:
        """Raise unless there is a manager to speak to."""
        said = run("systemctl", "--user", "show", "--property=Version", environ=self._environ)
        if said is None or said.code != 0:
            raise Unavailable(
                "The user services of systemd are not available here",
                details={"reason": said.problem if said else "there is no systemctl"},
                hint="start 'quarterdeck up' by whatever else starts programs here, such as a"
                " container's own command; under WSL, set 'systemd=true' under '[boot]' in"
                " /etc/wsl.conf",
            )

    def start(self) -> None:
        """Take the unit as it is now, start it, and start it at each login."""
        self._must("daemon-reload")
        self._must("enable", UNIT)
        # Unlike `start`, this also makes a running service take a changed unit.
        self._must("restart", UNIT)

    def stop(self) -> None:
        """Stop it, and start it at no further login."""
        self._must("disable", "--now", UNIT)

    def forget(self) -> None:
        """Notice that the unit is gone."""
        self._must("daemon-reload")

    def state(self) -> ServiceState:
        said = self._must("show", UNIT, "--property=ActiveState,UnitFileState,MainPID")
        facts = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
        return ServiceState(
            installed=self.path.exists(),
            running=facts.get("ActiveState") == "active",
            starts_at_login=facts.get("UnitFileState") == "enabled",
            pid=int(facts.get("MainPID") or 0) or None,
        )

    def advice(self) -> str | None:
        """Return what else the user may want to do."""
        user = self._environ.get("USER") or str(os.getuid())
        said = run(
            "loginctl", "show-user", user, "--property=Linger", "--value", environ=self._environ
        )
        if said is not None and said.out.strip() == "yes":
            return None
        return (
            "It ends when you log out and starts when you log in; run 'loginctl enable-linger' to"
            " let it run from the start of the machine on"
        )

    def _must(self, *arguments: str) -> str:
        said = run("systemctl", "--user", *arguments, environ=self._environ)
        if said is None or said.code != 0:
            raise Unavailable(
                f"systemctl could not {arguments[0]}",
                details={"reason": said.problem if said else "there is no systemctl"},
                hint=f"run 'systemctl --user status {UNIT}' and 'journalctl --user -u {UNIT}'",
            )
        return said.out
