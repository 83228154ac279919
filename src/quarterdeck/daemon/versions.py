"""Whether a program and a daemon fit together."""

import re


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without what marks a pre-release."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else (0,)


def is_newer(version: str, than: str) -> bool:
    return release(version) > release(than)


def is_compatible(version: str, other: str) -> bool:
    """Return whether both speak the same: those of one major version do."""
    return release(version)[0] == release(other)[0]
