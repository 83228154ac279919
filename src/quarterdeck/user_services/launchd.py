"""macOS' launchd: the agent's property list, and `launchctl`."""

import os
import plistlib
import re
from collections.abc import Mapping
from pathlib import Path

from quarterdeck.errors import Unavailable
from quarterdeck.user_services.command import run
from quarterdeck.user_services.definition import STOP_SECONDS, Definition, ServiceState

LABEL = "quarterdeck"
LOG = "service.log"
PID = re.compile(r"^\s*pid = (\d+)$", re.MULTILINE)


def agent_text(definition: Definition) -> str:
    """Return the property list, as XML."""
    log = str(definition.folder / LOG)
    agent: dict[str, object] = {
        "Label": LABEL,
        # With a log of its own that does not grow for ever; here comes what is said before that.
        "ProgramArguments": [*definition.command, "--in-background"],
        "WorkingDirectory": str(definition.folder),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ExitTimeOut": STOP_SECONDS,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    if definition.env:
        agent["EnvironmentVariables"] = dict(definition.env)
    return plistlib.dumps(agent, sort_keys=False).decode()


class Launchd:
    """Implements `ServiceManager`."""

    name = "launchd"

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Agents belong to the user whose environment this is."""
        self._environ = environ
        self.path = Path(environ.get("HOME", "")) / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.getuid()}"

    def text(self, definition: Definition) -> str:
        return agent_text(definition)

    def check(self) -> None:
        """Raise unless there is a manager to speak to."""
        self._must("print", self._domain)

    def start(self) -> None:
        """Take the agent as it is now, start it, and start it at each login."""
        self.stop()
        self._must("enable", f"{self._domain}/{LABEL}")
        self._must("bootstrap", self._domain, str(self.path))

    def stop(self) -> None:
        """Stop it, and start it at no further login."""
        if self._is_loaded():
            self._must("bootout", f"{self._domain}/{LABEL}")

    def forget(self) -> None:
        """Do nothing: launchd does not remember an agent whose file is gone."""

    def state(self) -> ServiceState:
        said = run("launchctl", "print", f"{self._domain}/{LABEL}", environ=self._environ)
        pid = PID.search(said.out) if said and said.code == 0 else None
        return ServiceState(
            installed=self.path.exists(),
            running=pid is not None,
            starts_at_login=self.path.exists(),
            pid=int(pid[1]) if pid else None,
        )

    def advice(self) -> str | None:
        """Return what else the user may want to do."""
        return None

    def _is_loaded(self) -> bool:
        said = run("launchctl", "print", f"{self._domain}/{LABEL}", environ=self._environ)
        return said is not None and said.code == 0

    def _must(self, *arguments: str) -> None:
        said = run("launchctl", *arguments, environ=self._environ)
        if said is None or said.code != 0:
            raise Unavailable(
                f"launchctl could not {arguments[0]}",
                details={"reason": said.problem if said else "there is no launchctl"},
                hint="log in at the screen of this Mac, because agents belong to that session, or"
                " start 'quarterdeck up' by what else starts programs here",
            )
