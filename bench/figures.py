"""Numbers as the tables show them."""

from collections.abc import Sequence
from math import ceil
from statistics import median


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that at least this share of all samples do not exceed."""
    return sorted(samples)[max(ceil(share * len(samples)) - 1, 0)]


def milliseconds(seconds: float) -> str:
    """Return a duration with three digits that mean something."""
    value = seconds * 1000
    return f"{value:.0f} ms" if value >= 100 else f"{value:.{2 - len(str(int(value))) + 1}f} ms"


def best_and_median(seconds: Sequence[float]) -> str:
    return f"{milliseconds(min(seconds))} / {milliseconds(median(seconds))}"


def times(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"


def held(value: float, most: float, shown: str) -> str:
    """Return a target and whether it holds; nothing fails when it does not."""
    return f"{shown}: {'holds' if value <= most else 'missed'}"
