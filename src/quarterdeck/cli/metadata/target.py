"""What the user's name for something means: a tool, a resource, a template or a prompt."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from quarterdeck.errors import InvalidInput, NotFound, closest_name
from quarterdeck.overrides.fields import SECTIONS, Item, Kind, shown_items
from quarterdeck.overrides.model import Overrides
from quarterdeck.overrides.names import LATER, canonical, is_pattern
from quarterdeck.overrides.surface import Surface

Name = Annotated[
    str, Parameter(help="A tool, a resource's URI, a template's, a prompt, or a pattern of tools.")
]
OnlyKind = Annotated[
    Kind | None,
    Parameter(name="--kind", help="Which is meant, when a name has several.", show_default=False),
]


class Target(NamedTuple):
    """`key` is how the file spells the name, or should spell it."""

    kind: Kind
    key: str

    @property
    def place(self) -> tuple[str, str]:
        return SECTIONS[self.kind], self.key


def find_target(name: str, kind: Kind | None, surface: Surface, overrides: Overrides) -> Target:
    """Return what is meant by `name`.

    Raises:
        NotFound: nothing is; the hint has the closest name.
        InvalidInput: more than one thing is.
    """
    found = {target.kind: target for target in _named(name, surface, overrides)}
    if kind is not None:
        found = {kind: found[kind]} if kind in found else {}
    if len(found) > 1:
        raise InvalidInput(
            f"{name!r} is the name of a {' and of a '.join(found)}",
            hint="say which with --kind",
        )
    if not found:
        raise _not_found(name, surface)
    return next(iter(found.values()))


def item_of(target: Target, surface: Surface) -> Item | None:
    """Return the thing that is meant, if the surface has it."""
    meant = canonical(target.key)
    items = shown_items(surface)
    return next((item for kind, name, item in items if (kind, name) == (target.kind, meant)), None)


def _named(name: str, surface: Surface, overrides: Overrides) -> Iterator[Target]:
    """Yield every meaning; the file's own spelling comes last, and wins."""
    if is_pattern(name) or name.startswith(LATER):
        yield Target("tool", name)
    for kind, known, _ in shown_items(surface):
        if known == canonical(name):
            yield Target(kind, known)
    for kind, section in SECTIONS.items():
        for key in getattr(overrides, section):
            if canonical(key) == canonical(name):
                yield Target(kind, key)


def _not_found(name: str, surface: Surface) -> NotFound:
    known = [known for _, known, _ in shown_items(surface)]
    closest = closest_name(canonical(name), known)
    return NotFound(
        f"There is no tool, resource, template or prompt {name!r}",
        details={"name": name, **({"closest": closest} if closest else {})},
        hint=f"did you mean {closest!r}?"
        if closest
        else "'quarterdeck metadata tokens' lists what there is",
    )
