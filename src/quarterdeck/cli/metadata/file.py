"""The user's file as the commands use it: found, read, checked, and replaced whole."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quarterdeck.cli.program import Deck, Invocation
from quarterdeck.cli.render import remark
from quarterdeck.domain.json import JsonObject
from quarterdeck.errors import Conflict
from quarterdeck.overrides.checking import Finding, checked_text
from quarterdeck.overrides.reading import Parsed, read_metadata
from quarterdeck.overrides.surface import Surface
from quarterdeck.user_files import read_text, replace_text

if TYPE_CHECKING:
    from quarterdeck.settings import Settings


@dataclass(frozen=True)
class MetadataFile:
    """Where the file is, and the program whose words it changes."""

    invocation: Invocation
    settings: "Settings"

    @property
    def path(self) -> Path:
        return self.settings.metadata_path

    def parsed(self) -> Parsed:
        """Return what the file says, if it is sound in itself."""
        return read_metadata(self.path)

    def text(self) -> str:
        """Return the file as it is written; nothing when there is none."""
        return read_text(self.path) or ""

    async def baseline(self) -> Surface:
        """Return everything that the package shows a client, in its own words."""
        return await self.invocation.program.offered(self.settings, effective=False)

    async def effective(self) -> Surface:
        """Return everything that a client is shown."""
        return await self.invocation.program.offered(self.settings, effective=True)

    def check(self, text: str, surface: Surface) -> list[Finding]:
        """Return what to warn about in a text for the file.

        Raises:
            InvalidMetadata: it cannot be used.
        """
        return checked_text(text, str(self.path), surface)[1]

    async def replace(self, command: str, sent: JsonObject, before: str, after: str) -> None:
        """Write the file, as one call; somebody else's change in between is not overwritten."""

        async def body(_deck: Deck) -> None:
            if self.text() != before:
                raise Conflict(
                    f"The metadata file {str(self.path)!r} has changed in the meantime",
                    details={"path": str(self.path)},
                    hint="look at it and try again",
                )
            replace_text(self.path, after)

        await self.invocation.call(f"metadata.{command}", {"path": str(self.path), **sent}, body)


def open_file(invocation: Invocation) -> MetadataFile:
    return MetadataFile(invocation, invocation.settings())


def say_how_to_apply() -> None:
    remark("Run 'quarterdeck reload' to apply it to the daemon that runs, or restart it")


def warn(findings: list[Finding]) -> None:
    for finding in findings:
        remark(f"warning: {finding}")
