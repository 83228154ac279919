"""Whether what `metadata.yaml` speaks of is there: a wrong name would change nothing, silently."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from quarterdeck.errors import InvalidMetadata, closest_name, located
from quarterdeck.overrides.model import ArgumentOverride, Overrides
from quarterdeck.overrides.names import LATER, canonical, is_pattern, matches
from quarterdeck.overrides.nodes import Place, dotted
from quarterdeck.overrides.reading import Parsed, examine
from quarterdeck.overrides.surface import Surface

Arguments = Mapping[str, ArgumentOverride]


class Finding(NamedTuple):
    """Something in the file that does not fit; the server starts when none is fatal."""

    line: int | None
    where: str
    problem: str
    fatal: bool

    def __str__(self) -> str:
        return located((self.line, self.where, self.problem))


class _Fault(NamedTuple):
    place: Place
    problem: str
    fatal: bool


def find_problems(
    overrides: Overrides, surface: Surface, lines: Mapping[Place, int]
) -> list[Finding]:
    """Return everything that does not fit what there is to override, by line."""
    found = [
        Finding(lines.get(fault.place), dotted(fault.place), fault.problem, fault.fatal)
        for fault in _faults(overrides, surface)
    ]
    return sorted(found, key=lambda finding: finding.line or 0)


def examined_text(text: str, place: str, surface: Surface) -> tuple[Parsed, list[Finding]]:
    """Return what a text says, and everything that is wrong with it, in itself and by its names.

    Raises:
        InvalidMetadata: there is no telling what it says.
    """
    parsed, troubles = examine(text, place)
    found = [
        *(Finding(*trouble, fatal=True) for trouble in troubles),
        *find_problems(parsed.overrides, surface, parsed.lines),
    ]
    return parsed, sorted(found, key=lambda finding: finding.line or 0)


def checked_text(text: str, place: str, surface: Surface) -> tuple[Parsed, list[Finding]]:
    """Return what a text says, and what to warn about.

    Raises:
        InvalidMetadata: lists everything that is wrong.
    """
    parsed, found = examined_text(text, place, surface)
    if fatal := [finding[:3] for finding in found if finding.fatal]:
        raise InvalidMetadata(place, fatal)
    return parsed, found


def _faults(overrides: Overrides, surface: Surface) -> Iterator[_Fault]:
    yield from _tool_faults(overrides, surface)
    yield from _prompt_faults(overrides, surface)
    resources = [resource.uri for resource in surface.resources]
    yield from _uri_faults("resources", "resource", overrides.resources, resources, overrides)
    templates = [template.uri for template in surface.resource_templates]
    yield from _uri_faults(
        "resource_templates", "template", overrides.resource_templates, templates, overrides
    )


def _tool_faults(overrides: Overrides, surface: Surface) -> Iterator[_Fault]:
    known = {tool.name: list(tool.arguments) for tool in surface.tools}
    for name, override in overrides.tools.items():
        place = ("tools", name)
        if is_pattern(name):
            yield from _pattern_faults(place, override.arguments, known)
        elif name in known:
            yield from _argument_faults(place, f"tool {name!r}", override.arguments, known[name])
        elif name.startswith(LATER):
            yield _Fault(place, f"there is no tool {name!r} so far", fatal=False)
        else:
            yield _unknown(place, "tool", list(known), fatal=overrides.strict)


def _pattern_faults(
    place: Place, arguments: Arguments, known: Mapping[str, Sequence[str]]
) -> Iterator[_Fault]:
    meant = [name for name in known if matches(name, place[-1])]
    if not meant:
        yield _Fault(place, "it matches no tool so far", fatal=False)
        return
    # Those of the tools that lack an argument are left alone, as long as one has it.
    taken = list(dict.fromkeys(argument for name in meant for argument in known[name]))
    yield from _argument_faults(place, f"tool that {place[-1]!r} matches", arguments, taken)


def _prompt_faults(overrides: Overrides, surface: Surface) -> Iterator[_Fault]:
    known = {prompt.name: list(prompt.arguments) for prompt in surface.prompts}
    for name, override in overrides.prompts.items():
        place = ("prompts", name)
        if name in known:
            yield from _argument_faults(place, f"prompt {name!r}", override.arguments, known[name])
        else:
            yield _unknown(place, "prompt", list(known), fatal=overrides.strict)


def _argument_faults(
    place: Place, owner: str, arguments: Arguments, known: Sequence[str]
) -> Iterator[_Fault]:
    for name in arguments:
        if name not in known:
            problem = f"the {owner} has no argument {name!r}{_advice(name, known)}"
            yield _Fault((*place, "arguments", name), problem, fatal=True)


def _uri_faults(
    section: str, kind: str, given: Mapping[str, object], known: Sequence[str], overrides: Overrides
) -> Iterator[_Fault]:
    seen: dict[str, str] = {}
    for uri in given:
        meant = canonical(uri)
        if meant in seen:
            problem = f"it is the same {kind} as {seen[meant]!r}"
            yield _Fault((section, uri), problem, fatal=True)
        elif meant not in known:
            yield _unknown((section, uri), kind, known, fatal=overrides.strict)
        seen[meant] = uri


def _unknown(place: Place, kind: str, known: Sequence[str], *, fatal: bool) -> _Fault:
    skipped = "" if fatal else " (skipped)"
    advice = _advice(canonical(place[-1]), known)
    return _Fault(place, f"there is no {kind} {place[-1]!r}{advice}{skipped}", fatal)


def _advice(name: str, known: Sequence[str]) -> str:
    closest = closest_name(name, known)
    return f", did you mean {closest!r}?" if closest else ""
