"""How the keys of `metadata.yaml` name what they are about."""

from fnmatch import fnmatchcase

WILD = frozenset("*?[")
# Tools under it come and go with the agents behind them.
LATER = "agent-"
OURS, ALIAS = "quarterdeck://", "automatosx://"


def is_pattern(name: str) -> bool:
    """Say whether a key stands for every tool that it matches."""
    return not WILD.isdisjoint(name)


def matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern)


def canonical(uri: str) -> str:
    """Return the URI under which a resource is listed; an older scheme names the same ones."""
    return OURS + uri.removeprefix(ALIAS) if uri.startswith(ALIAS) else uri
