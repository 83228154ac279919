"""What commands need of the program: they are handed it, so none imports the composition root."""

import getpass
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from quarterdeck.domain.json import JsonValue
    from quarterdeck.domain.redaction import Redactor
    from quarterdeck.overrides.surface import Surface
    from quarterdeck.ports.agent_programs import AgentPrograms
    from quarterdeck.ports.database import Database
    from quarterdeck.services.agent_programs import AgentProgramService
    from quarterdeck.services.archives import ArchiveService
    from quarterdeck.services.calls import Calls
    from quarterdeck.services.memory import MemoryService
    from quarterdeck.services.projects import ProjectService
    from quarterdeck.services.tokens import TokenService
    from quarterdeck.services.traces import TraceService
    from quarterdeck.settings import Settings

T = TypeVar("T")


class Deck(Protocol):
    """The services, on an open database."""

    @property
    def calls(self) -> "Calls": ...
    @property
    def memory(self) -> "MemoryService": ...
    @property
    def tokens(self) -> "TokenService": ...
    @property
    def traces(self) -> "TraceService": ...
    @property
    def archives(self) -> "ArchiveService": ...
    @property
    def projects(self) -> "ProjectService": ...
    @property
    def agent_programs(self) -> "AgentProgramService": ...


class Program(Protocol):
    """The composition root, as commands see it."""

    def open(self, settings: "Settings") -> AbstractAsyncContextManager[Deck]: ...

    def database(self, settings: "Settings") -> "Database": ...

    def agent_programs(self, settings: "Settings") -> "AgentPrograms": ...

    def paused(self, settings: "Settings") -> AbstractAsyncContextManager[None]:
        """Keep the home's own server from running, and from being started, while inside."""
        ...

    async def serve_stdio(self, settings: "Settings") -> None: ...

    async def bridge(self, home: Path, path: str, say: Callable[[str], None]) -> None:
        """Join stdin and stdout to the daemon's endpoint at `path`, and do not return."""
        ...

    async def serve_http(self, settings: "Settings", announce: Callable[[str], None]) -> int:
        """Serve until a signal, and return the exit code.

        `announce` is told the base URL once requests are answered.
        """
        ...

    async def count_tools(self, settings: "Settings") -> int:
        """Start a server beside the real home, and return how many tools it offers."""
        ...

    async def offered(self, settings: "Settings", *, effective: bool) -> "Surface":
        """Return everything the package has, in its own words or in those of the user's file."""
        ...


@dataclass
class Invocation:
    """One run of the command line: the program and the global options."""

    program: Program
    home: Path | None = None
    loaded: "Settings | None" = None

    def settings(
        self, flags: Mapping[str, object] | None = None, *, serves: bool = False
    ) -> "Settings":
        """Load the settings, with the command's own flags, and start logging as they say."""
        from quarterdeck.cli.logs import log_to_stderr
        from quarterdeck.settings import load_settings

        self.loaded = load_settings(flags={"home": self.home, **(flags or {})})
        log_to_stderr(self.loaded, serves=serves)
        return self.loaded

    def find_home(self) -> Path:
        """Return the home without loading the settings, which takes as long as all the rest."""
        from quarterdeck.setting_sources import find_home

        return find_home({"home": self.home}, os.environ)[0]

    def redactor(self) -> "Redactor":
        from quarterdeck.domain.redaction import Redactor

        return Redactor(self.loaded.secrets() if self.loaded else ())

    async def call(
        self,
        name: str,
        sent: "JsonValue",
        body: Callable[[Deck], Awaitable[T]],
        *,
        recorded: bool = True,
    ) -> T:
        """Run `body` as one call; those that change nothing are not `recorded`."""
        from quarterdeck.services.calls import Call

        async with self.program.open(self.loaded or self.settings()) as deck:
            call = Call(
                surface="cli", name=f"cli.{name}", input=sent, actor=user_name(), recorded=recorded
            )
            return await deck.calls.serve(call, lambda: body(deck))


def user_name() -> str:
    """Return who typed the command, as traces name them."""
    try:
        return f"user:{getpass.getuser()}"
    except (KeyError, OSError):
        # In a container, a user may have a number and no name.
        return f"user:{os.getuid()}"
