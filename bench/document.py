"""`docs/benchmarks.md`: each experiment has a part of its own, so one can be measured anew."""

import re
from collections.abc import Mapping
from pathlib import Path

PATH = Path(__file__).parents[1] / "docs" / "benchmarks.md"

_INTRODUCTION = """\
# Benchmarks

Every figure is a ratio against a peer that was measured in the same run, turn by turn with
it, because absolute times say more about a machine than about a program. `make bench`
measures again; `bench/README.md` says how to read the tables. A target that is missed is
shown as missed and fails nothing.

"""
_PART = re.compile(r"^<!-- part: (\w+) -->\n", re.MULTILINE)


def write(parts: Mapping[str, str], order: list[str]) -> None:
    """Put parts into the document and leave the others as they are; `notes` are kept by hand."""
    old = PATH.read_text(encoding="utf-8") if PATH.exists() else ""
    kept = _parts_of(old) | dict(parts)
    shown = [f"<!-- part: {name} -->\n{kept[name].strip()}\n" for name in order if name in kept]
    PATH.write_text(_INTRODUCTION + "\n".join(shown), encoding="utf-8")


def _parts_of(text: str) -> dict[str, str]:
    _, *found = _PART.split(text)
    return dict(zip(found[::2], found[1::2], strict=True))
