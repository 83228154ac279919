"""Which service manager a machine has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from quarterdeck.user_services.definition import Definition, ServiceState
from quarterdeck.user_services.launchd import Launchd
from quarterdeck.user_services.systemd import Systemd


class ServiceManager(Protocol):
    """What `quarterdeck service` needs; every failure is `Unavailable` and says what to do."""

    name: str
    path: Path

    def text(self, definition: Definition) -> str: ...

    def check(self) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def forget(self) -> None: ...

    def state(self) -> ServiceState: ...

    def advice(self) -> str | None: ...


def service_manager(platform: str, environ: Mapping[str, str]) -> ServiceManager:
    return Launchd(environ) if platform == "darwin" else Systemd(environ)
