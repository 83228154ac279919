"""The reference page is what the commands say of themselves."""

import os
from collections.abc import Iterator

from cyclopts import App

from quarterdeck.cli.main import command_tree
from tests.cli.conftest import CommandLine
from tests.support.repository import ROOT

# Read now: tests run without any variables of ours.
UPDATES = "QUARTERDECK_UPDATE_SNAPS" in os.environ
PAGE = ROOT / "docs" / "cli.md"
FIRST = "## `quarterdeck`\n"


def test_the_reference_has_the_help_of_every_command(cli: CommandLine) -> None:
    sections = [section(cli, path) for path in ((), *paths(command_tree()))]
    opening, first, rest = PAGE.read_text(encoding="utf-8").partition(FIRST)
    if UPDATES:
        PAGE.write_text(opening + "\n".join(sections), encoding="utf-8")
    else:
        assert first + rest == "\n".join(sections)


def paths(app: App, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in app:
        if not name.startswith("-"):
            yield (*above, name)
            yield from paths(app[name], (*above, name))


def section(cli: CommandLine, path: tuple[str, ...]) -> str:
    shown = cli(*path, "--help")
    assert (shown.code, shown.err) == (0, "")
    heading = "#" * min(len(path) + 2, 3)
    title = " ".join(("quarterdeck", *path))
    return f"{heading} `{title}`\n\n```text\n{shown.out.strip()}\n```\n"
