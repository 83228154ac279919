"""`quarterdeck clean`: what is left of agents that are gone."""

import re
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.fleet import Reply, fleet_of, print_reply
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import remark
from quarterdeck.errors import InvalidInput

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"(\d{1,6})([smhdw])")


async def clean(
    *,
    older_than: Annotated[
        str | None,
        Parameter(
            help="How long ago an agent must have been deleted, such as 12h or 30d; by default"
            " fleet.retention_days."
        ),
    ] = None,
    dry_run: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Only say what would be removed.")
    ] = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Remove what is left of agents that were deleted long ago.

    That is their history, their logs, and workspace folders that belong to no agent; a folder
    with files in it is never removed, but named. The daemon does the same by itself.
    """
    seconds = None if older_than is None else _seconds(older_than)
    async with fleet_of(invocation) as fleet:
        if dry_run:
            answer = await fleet.look("clean", "preview_clean", older_than_seconds=seconds)
        else:
            answer = await fleet.do("clean", "clean_fleet", older_than_seconds=seconds)
    print_reply(answer) if as_json else _tell(answer)


def _seconds(age: str) -> int:
    found = _AGE.fullmatch(age.strip().lower())
    if found is None:
        raise InvalidInput.field(
            "older_than", "is no time span", hint="write it such as 45m, 12h, 30d or 4w"
        )
    return int(found[1]) * _SECONDS[found[2]]


def _tell(answer: Reply) -> None:
    verb = "Would remove" if answer["dry_run"] else "Removed"
    for name in answer["agents"]:
        remark(f"{verb} what was kept of the agent {name!r}")
    for path in answer["folders"]:
        remark(f"{verb} {path}, which belongs to no agent")
    for kept in answer["kept"]:
        remark(f"Kept {kept['path']}, which belongs to no agent: {kept['reason']}")
    freed = "would be freed" if answer["dry_run"] else "freed"
    remark(f"{_size(answer['freed_bytes'])} {freed}")


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"  # noqa: PLR2004 - from here on kB has too many digits
