"""Words as a `metadata.yaml` that says them: for editing, and for comparing line by line."""

from collections.abc import Mapping
from typing import Any

import yaml

from quarterdeck.overrides.fields import SECTIONS, Item, shown_items, texts_of
from quarterdeck.overrides.nodes import TEXT
from quarterdeck.overrides.surface import Surface

WIDTH = 90
LONG = 60


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as a block, and long text folded."""


def _text(_dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else ">" if len(text) > LONG else None
    return yaml.ScalarNode(TEXT, text, style=style)


_Dumper.add_representer(str, _text)


def as_yaml(surface: Surface) -> str:
    """Return a file that says of everything what `surface` shows of it."""
    sections: dict[str, dict[str, Any]] = {}
    for kind, name, item in shown_items(surface):
        sections.setdefault(SECTIONS[kind], {})[name] = item_data(item)
    return _dumped({"version": 1, **sections})


def item_lines(item: Item) -> list[str]:
    """Return what is shown of an item, in lines that can be compared."""
    return _dumped(item_data(item)).splitlines()


def item_data(item: Item) -> Mapping[str, Any]:
    """Return the entry of an item; a text that it has not is empty, and would be cleared."""
    data: dict[str, Any] = {}
    for field, value in texts_of(item).items():
        part, _, rest = field.partition(".")
        if value is None and part == "annotations":
            continue  # there is no clearing a hint
        if not rest:
            data[part] = value or ""
        elif part == "annotations":
            data.setdefault(part, {})[rest] = value
        else:
            name = rest.removesuffix(".description")
            data.setdefault(part, {})[name] = {"description": value or ""}
    return data


def _dumped(data: Mapping[str, Any]) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
