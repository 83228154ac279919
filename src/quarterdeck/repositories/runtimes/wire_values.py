"""Reading what an agent sent: whatever is missing or of another type counts as not there."""

import math
import re
from collections.abc import Mapping
from typing import Any, cast

Wire = Mapping[str, Any]

# Neither can be stored: PostgreSQL takes no NUL, and UTF-8 has no form for half a character.
_UNFIT = re.compile("[\0\ud800-\udfff]")


def text_at(values: Wire, name: str, default: str = "") -> str:
    value = values.get(name)
    return fit(value) if isinstance(value, str) else default


def number_at(values: Wire, name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount_at(values: Wire, name: str) -> float | None:
    value = values.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)


def object_at(values: Wire, name: str) -> Wire:
    value = values.get(name)
    return cast("Wire", value) if isinstance(value, dict) else {}


def objects_at(values: Wire, name: str) -> list[Wire]:
    value = values.get(name)
    entries = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Wire", entry) for entry in entries if isinstance(entry, dict)]


def fit(text: str) -> str:
    """Return the text as it can be stored."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)
