"""JSON as the domain sees it: its type, its one spelling, and what makes it unfit to store."""

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
    )
else:
    # Models read their annotations when they are built, and pydantic can follow a recursive
    # alias only when it is written as a `type` statement, which needs Python 3.12.
    JsonValue = Any
JsonObject: TypeAlias = dict[str, JsonValue]

# The steps to a value, the last one first: a path is spelled only when somebody needs it.
_Path: TypeAlias = "tuple[_Path, str | int] | None"

_PLAIN_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# `json.dumps` would build this encoder anew on each call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def dump(value: object) -> str:
    """Spell a JSON value compactly, members in their own order.

    Raises:
        TypeError: `value` holds something that JSON has no form for.
        ValueError: A number is NaN or infinite, which JSON cannot say.
        RecursionError: The nesting comes near a thousand levels; `depth_of` tells beforehand.
    """
    return _encode(value)


def depth_of(value: JsonValue, stop: int) -> int:
    """Count the containers around the innermost value: 0 for a scalar, 1 for `{}`.

    The count ends at `stop + 1`, so nesting beyond the limit costs nothing more.
    """
    depth = 0
    containers = _containers([value])
    while containers and depth <= stop:
        depth += 1
        containers = _containers(child for item in containers for _, child in _members(item))
    return depth


def has_lone_surrogate(text: str) -> bool:
    """Say whether `text` holds half a surrogate pair, so that it cannot be written as UTF-8."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def find_bad_text(value: JsonValue) -> str | None:
    """Return the JSON path of the first string or key with a lone surrogate, as in `$.tags[2]`.

    NUL passes: inside a value it is text like any other.
    """
    pending: list[tuple[_Path, JsonValue]] = [(None, value)]
    while pending:
        path, item = pending.pop()
        if (path and _is_bad(path[1])) or _is_bad(item):
            return _spell(path)
        if isinstance(item, dict | list):
            # The stack is read from its end, so the first child has to lie there.
            pending.extend([((path, step), child) for step, child in _members(item)][::-1])
    return None


def _containers(values: Iterable[JsonValue]) -> list[list[JsonValue] | JsonObject]:
    return [value for value in values if isinstance(value, dict | list)]


def _members(item: list[JsonValue] | JsonObject) -> Iterable[tuple[str | int, JsonValue]]:
    return item.items() if isinstance(item, dict) else enumerate(item)


def _is_bad(item: object) -> bool:
    return isinstance(item, str) and has_lone_surrogate(item)


def _spell(path: _Path) -> str:
    steps: list[str] = []
    while path is not None:
        outer, step = path
        if isinstance(step, str) and _PLAIN_STEP.fullmatch(step):
            steps.append(f".{step}")
        else:
            # ASCII only: a path to text that cannot be written must itself be writable.
            steps.append(f"[{json.dumps(step)}]")
        path = outer
    return "$" + "".join(reversed(steps))
