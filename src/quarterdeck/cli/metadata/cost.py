"""`tokens`: what the words cost a model."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.metadata.file import open_file
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import print_table, remark
from quarterdeck.errors import InvalidInput
from quarterdeck.overrides.costs import Cost, costs
from quarterdeck.overrides.surface import Surface
from quarterdeck.toolsets import ALL, find_unknown

METHOD = "an estimate: four characters of JSON are one token"


async def show_tokens(
    *,
    toolsets: Annotated[
        str | None,
        Parameter(help="Count only these groups of tools, such as memory,trace."),
    ] = None,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Print about how many tokens the lists of tools, resources and prompts cost a model.

    LISTED counts all that a client is sent; READ what most clients hand to the model: names,
    descriptions and the schema of the arguments. PACKAGE is READ in the package's own words,
    where yours differ. It is an estimate, four characters of JSON for a token: for English
    texts a few percent too high in sum, and up to a fifth for a single small one.
    """
    chosen = _chosen(toolsets)
    file = open_file(invocation)
    bill = Bill(_only(chosen, await file.effective()), _only(chosen, await file.baseline()))
    if as_json:
        print(json.dumps(bill.data()))
    else:
        print_table(*bill.table())
        remark(f"This is {METHOD}")


@dataclass(frozen=True)
class Bill:
    """What everything costs, now and in the package's own words."""

    now: Sequence[Cost]
    package: Sequence[Cost]

    def data(self) -> dict[str, object]:
        packages = self._package_read()
        return {
            "method": METHOD,
            "listed": _listed(self.now),
            "read": _read(self.now),
            "packageRead": _read(self.package),
            "toolsets": [
                {"toolset": name, "listed": _listed(group), "read": _read(group)}
                for name, group in _by_toolset(self.now)
            ],
            "entries": [
                {**cost._asdict(), "packageRead": packages.get(cost[:2])} for cost in self.now
            ],
        }

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return header and rows; the package's own figures only where they differ."""
        packages = self._package_read()
        rows = [
            [cost.kind, cost.name, *_figures(cost.listed, cost.read, packages.get(cost[:2]))]
            for cost in self.now
        ]
        rows += [
            ["toolset", name, *_figures(_listed(group), _read(group), None)]
            for name, group in _by_toolset(self.now)
        ]
        rows.append(["all", "", *_figures(_listed(self.now), _read(self.now), _read(self.package))])
        header = ["KIND", "NAME", "LISTED", "READ", "PACKAGE"]
        if any(row[-1] for row in rows):
            return header, rows
        return header[:-1], [row[:-1] for row in rows]

    def _package_read(self) -> dict[tuple[object, ...], int]:
        return {cost[:2]: cost.read for cost in self.package}


def _figures(listed: int, read: int, package: int | None) -> Sequence[str]:
    return str(listed), str(read), "" if package in {None, read} else str(package)


def _chosen(toolsets: str | None) -> frozenset[str]:
    names = frozenset(name.strip() for name in (toolsets or ALL).split(","))
    if unknown := find_unknown(sorted(names)):
        name, advice = unknown
        raise InvalidInput.field("toolsets", f"has no {name!r}", hint=advice)
    return names


def _only(chosen: frozenset[str], surface: Surface) -> Sequence[Cost]:
    """Return the costs of a choice; resources and prompts come with every one."""
    return [cost for cost in costs(surface) if cost.kind != "tool" or {ALL, cost.toolset} & chosen]


def _by_toolset(found: Sequence[Cost]) -> Iterable[tuple[str, Sequence[Cost]]]:
    for name in dict.fromkeys(cost.toolset for cost in found if cost.toolset):
        yield name, [cost for cost in found if cost.toolset == name]


def _listed(found: Sequence[Cost]) -> int:
    return sum(cost.listed for cost in found)


def _read(found: Sequence[Cost]) -> int:
    return sum(cost.read for cost in found)
