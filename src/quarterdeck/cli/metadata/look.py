"""`list`, `show`, `diff` and `path`: what the file says, and what comes of it."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from quarterdeck.cli.metadata.file import open_file
from quarterdeck.cli.metadata.target import Name, OnlyKind, find_target, item_of
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import print_table, printable, remark
from quarterdeck.overrides.export import item_lines
from quarterdeck.overrides.fields import Kind, Text, said, shown_items, texts_of


def path(*, invocation: Injected) -> None:
    """Print where the file is looked for."""
    print(open_file(invocation).path)


def list_said(*, as_json: AsJson = False, invocation: Injected) -> None:
    """Print what the file says, of what."""
    file = open_file(invocation)
    parsed = file.parsed()
    rows = list(said(parsed.overrides))
    if as_json:
        shown = [row._asdict() for row in rows]
        print(json.dumps({"strict": parsed.overrides.strict, "overrides": shown}))
    elif rows:
        table = [(row.kind, row.name, row.field, _as_text(row.value)) for row in rows]
        print_table(("KIND", "NAME", "FIELD", "VALUE"), table)
    else:
        remark(f"Nothing is overridden by {file.path}")


async def show(
    name: Name, /, *, kind: OnlyKind = None, as_json: AsJson = False, invocation: Injected
) -> None:
    """Print what the package says of something, what the file says, and what a client is shown."""
    file = open_file(invocation)
    overrides, baseline = file.parsed().overrides, await file.baseline()
    target = find_target(name, kind, baseline, overrides)
    effective = await file.effective()
    was, becomes = item_of(target, baseline), item_of(target, effective)
    words = Words(
        target.kind,
        target.key,
        texts_of(was) if was else {},
        {row.field: row.value for row in said(overrides) if row[:2] == target},
        texts_of(becomes) if becomes else {},
    )
    if as_json:
        print(json.dumps(asdict(words)))
    else:
        _print_words(words)


async def show_diff(*, as_json: AsJson = False, invocation: Injected) -> None:
    """Print what the file changes of what a client is shown."""
    file = open_file(invocation)
    before = {item[:2]: item[2] for item in shown_items(await file.baseline())}
    changes = [
        Change(kind, name, item_lines(before[kind, name]), item_lines(item))
        for kind, name, item in shown_items(await file.effective())
        if (kind, name) in before
    ]
    changes = [change for change in changes if change.package != change.shown]
    if as_json:
        print(json.dumps({"changes": [change.data() for change in changes]}))
    elif changes:
        for change in changes:
            _print_change(change)
    else:
        remark(f"Nothing is changed by {file.path}")


@dataclass(frozen=True)
class Words:
    """All that is said of one thing, by field."""

    kind: Kind
    name: str
    package: Mapping[str, Text]
    file: Mapping[str, str | bool]
    shown: Mapping[str, Text]


@dataclass(frozen=True)
class Change:
    """One thing as the package words it, and as a client is shown it, in lines."""

    kind: Kind
    name: str
    package: list[str]
    shown: list[str]

    def lines(self) -> list[str]:
        place = f"{self.kind} {self.name}"
        names = (f"{place} (package)", f"{place} (shown)")
        return list(difflib.unified_diff(self.package, self.shown, *names, lineterm=""))

    def data(self) -> Mapping[str, object]:
        return {"kind": self.kind, "name": self.name, "diff": "\n".join(self.lines())}


def _print_change(change: Change) -> None:
    for line in change.lines():
        print(printable(line))


def _print_words(words: Words) -> None:
    print(f"{words.kind} {printable(words.name)}")
    for field in dict.fromkeys((*words.package, *words.file)):
        print(f"\n{printable(field)}")
        if field not in words.file and words.package[field] == words.shown.get(field):
            _print_text("package", words.package[field])
            continue
        for lead, texts in (("package", words.package), ("file", words.file)):
            if field in texts:
                _print_text(lead, texts[field])
        if field in words.shown:
            _print_text("shown", words.shown[field])


def _print_text(lead: str, value: Text) -> None:
    first, *rest = _as_text(value).split("\n")
    print(f"  {lead:7}  {printable(first)}")
    for line in rest:
        print(f"           {printable(line)}".rstrip())


def _as_text(value: Text) -> str:
    if value is None or value == "":
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else value
