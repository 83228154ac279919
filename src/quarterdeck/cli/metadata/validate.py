"""`validate`: whether the file fits what a server offers."""

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from quarterdeck.cli.metadata.file import MetadataFile, open_file
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import remark
from quarterdeck.errors import InvalidMetadata
from quarterdeck.overrides.checking import Finding, examined_text
from quarterdeck.overrides.reading import read_text
from quarterdeck.overrides.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN_VARIABLE = "QUARTERDECK_TOKEN"  # noqa: S105 - the name of a variable


async def validate(
    *,
    url: Annotated[
        str | None,
        Parameter(help="Check against the server at this MCP address.", show_default=False),
    ] = None,
    token: Annotated[
        str | None,
        Parameter(help=f"Token for --url; better given as {TOKEN_VARIABLE}.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> int:
    """Say everything that is wrong with the file, by line.

    It is checked against the daemon that runs, or against the package when none does. Exits
    with 2 when the file cannot be used.
    """
    file = open_file(invocation)
    if url is None:
        against = await _own(file)
    else:
        from quarterdeck.cli.metadata.served import served_surface

        against = Against(url, await served_surface(url, token or os.environ.get(TOKEN_VARIABLE)))
    found = _found(file, against.surface)
    is_valid = not any(finding.fatal for finding in found)
    if as_json:
        print(json.dumps(_data(file, against, found)))
    else:
        _print(file, against, found)
    return 0 if is_valid else InvalidMetadata.exit_code


@dataclass(frozen=True)
class Against:
    """What the file was held against."""

    name: str
    surface: Surface


async def _own(file: MetadataFile) -> Against:
    """Return what the home's daemon and the package offer.

    Both, because a daemon may offer fewer toolsets than the package has, and tools that are not
    the package's.
    """
    from quarterdeck.daemon.address import find
    from quarterdeck.daemon.key import read_key

    package = await file.baseline()
    address = find(file.settings.home)
    if address is None:
        return Against("the package, because no daemon runs", package)
    from quarterdeck.cli.metadata.served import ENDPOINT, joined, served_surface

    key = read_key(file.settings.home)
    served = await served_surface(address.url + ENDPOINT, key, is_here=True)
    return Against(f"the daemon at {address.url}", joined(served, package))


def _found(file: MetadataFile, surface: Surface) -> list[Finding]:
    try:
        text = read_text(file.path)
        return examined_text(text or "", str(file.path), surface)[1]
    except InvalidMetadata as error:
        return [Finding(*problem, fatal=True) for problem in error.problems]


def _data(file: MetadataFile, against: Against, found: list[Finding]) -> "Mapping[str, object]":
    return {
        "path": str(file.path),
        "against": against.name,
        "valid": not any(finding.fatal for finding in found),
        "problems": [finding._asdict() for finding in found],
    }


def _print(file: MetadataFile, against: Against, found: list[Finding]) -> None:
    for finding in found:
        remark(f"{'error' if finding.fatal else 'warning'}: {finding}")
    errors = sum(finding.fatal for finding in found)
    if errors:
        outcome = f"has {errors} problem{'s' * (errors > 1)}"
    elif not file.path.exists():
        outcome = "is not there, which is fine"
    else:
        outcome = "can be used"
    remark(f"{file.path} {outcome}; checked against {against.name}")
