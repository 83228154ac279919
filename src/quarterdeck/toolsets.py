"""The groups of tools that can be offered or left out."""

from collections.abc import Iterable

from quarterdeck.errors import closest_name

TOOLSETS = ("fleet", "a2a", "workflow", "memory", "guard", "agent", "session", "trace", "meta")
ALL = "all"


def find_unknown(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first name that is no toolset, and advice on what was meant."""
    known = (*TOOLSETS, ALL)
    for name in names:
        if name not in known:
            closest = closest_name(name, known)
            return (
                name,
                f"did you mean {closest!r}?" if closest else f"known are {', '.join(known)}",
            )
    return None
