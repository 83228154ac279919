"""`init`, `set` and `unset`: the file is made, and one field of it changed."""

import sys
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.metadata.file import MetadataFile, open_file, say_how_to_apply, warn
from quarterdeck.cli.metadata.target import Name, OnlyKind, find_target
from quarterdeck.cli.options import Injected
from quarterdeck.cli.program import Invocation
from quarterdeck.cli.render import remark
from quarterdeck.domain.json import JsonObject
from quarterdeck.errors import Conflict, InvalidInput, NotFound
from quarterdeck.overrides.document import has_value, loaded, with_value, without
from quarterdeck.overrides.fields import field_path, field_value
from quarterdeck.overrides.model import Overrides
from quarterdeck.overrides.surface import Surface

FROM_STDIN = "-"
# What the file says of itself, and not of one thing.
OF_FILE = "strict"
START = "version: 1\n"

Field = Annotated[
    str, Parameter(help="The field, such as description or arguments.NAME.description.")
]


async def init(*, invocation: Injected) -> None:
    """Write a file that explains every field, and changes nothing as it is."""
    file = open_file(invocation)
    if file.path.exists() or file.path.is_symlink():
        raise Conflict(
            f"The metadata file {str(file.path)!r} exists already",
            details={"path": str(file.path)},
            hint="'quarterdeck metadata edit' opens it",
        )
    await file.replace("init", {}, "", example())
    remark(f"Wrote {file.path}; 'quarterdeck metadata edit' opens it")
    say_how_to_apply()


async def set_field(
    name: Name,
    field: Field,
    value: Annotated[
        str | None,
        Parameter(
            help="The text, true or false; - reads it from stdin.", allow_leading_hyphen=True
        ),
    ] = None,
    /,
    *,
    kind: OnlyKind = None,
    invocation: Injected,
) -> None:
    """Say one thing in other words; an empty text clears it.

    Everything else in the file stays as it is written, comments too. 'set strict false' lets
    the server start although the file names what is not there.
    """
    draft = await _draft(invocation)
    if value is None:
        if name != OF_FILE:
            raise InvalidInput.field("VALUE", "is required", hint="- reads it from stdin")
        place, new = (OF_FILE,), field_value((OF_FILE,), field)
    else:
        target = find_target(name, kind, draft.surface, draft.overrides)
        below = field_path(target.kind, field)
        place, new = (*target.place, *below), field_value(below, _given(value))
    after = with_value(draft.before or START, place, new)
    await draft.write("set", {"place": list(place), "value": new}, after)


async def unset_field(
    name: Name,
    field: Annotated[str | None, Parameter(help="The field; without one, all of them.")] = None,
    /,
    *,
    kind: OnlyKind = None,
    invocation: Injected,
) -> None:
    """Take out of the file what it says of something, so that the package's words hold again."""
    draft = await _draft(invocation)
    if name == OF_FILE and field is None:
        place: tuple[str, ...] = (OF_FILE,)
    else:
        target = find_target(name, kind, draft.surface, draft.overrides)
        below = field_path(target.kind, field, or_part=True) if field else ()
        place = (*target.place, *below)
    if not has_value(loaded(draft.before), place):
        raise NotFound(
            f"The metadata file says nothing at {'.'.join(place)!r}",
            details={"place": list(place)},
            hint="'quarterdeck metadata list' shows what it says",
        )
    await draft.write("unset", {"place": list(place)}, without(draft.before, place))


def example() -> str:
    """Return a file in which everything is explained and nothing is said."""
    return (files("quarterdeck.overrides") / "example.yaml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Draft:
    """The file before a change, and what the change must fit."""

    file: MetadataFile
    surface: Surface
    overrides: Overrides
    before: str

    async def write(self, command: str, sent: JsonObject, after: str) -> None:
        """Replace the file if it can be used afterwards.

        Raises:
            InvalidMetadata: it could not; nothing was changed.
        """
        if after == self.before:
            remark("The file says so already; nothing was changed")
            return
        findings = self.file.check(after, self.surface)
        await self.file.replace(command, sent, self.before, after)
        warn(findings)
        remark(f"Changed {self.file.path}")
        say_how_to_apply()


async def _draft(invocation: Invocation) -> Draft:
    file = open_file(invocation)
    overrides = file.parsed().overrides
    return Draft(file, await file.baseline(), overrides, file.text())


def _given(value: str) -> str:
    if value != FROM_STDIN:
        return value
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InvalidInput.field("VALUE", "must be UTF-8 text") from error
    # The one that every shell and editor puts at the end.
    return text.removesuffix("\n").removesuffix("\r")
