"""Help texts in plain columns: readable without colour, and in the documentation as they are."""

import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

Row = tuple[str, str]

WIDEST = 100
INDENT = "  "
GLOBAL_OPTIONS = (
    ("--home PATH", "Use this home instead of the configured one; every command takes it."),
    ("--help, -h", "Show help; every command takes it."),
    ("--version", "Print the version."),
)


def overview(about: str, commands: Sequence[Row]) -> str:
    """Return the help of the program itself.

    It is written without Cyclopts, because drawing it there would load Rich and take twice
    as long.
    """
    width = shutil.get_terminal_size().columns
    return "\n\n".join(
        (
            "Usage: quarterdeck [OPTIONS] COMMAND",
            about,
            "Commands:\n" + columns(commands, width),
            "Options:\n" + columns(GLOBAL_OPTIONS, width),
        )
    )


def columns(rows: Sequence[Row], width: int) -> str:
    """Return two aligned columns, the second one wrapped."""
    lead = max(len(name) for name, _ in rows) + 2 * len(INDENT)
    return "\n".join(
        textwrap.fill(
            text,
            max(min(width, WIDEST), lead + 20),
            initial_indent=f"{INDENT}{name}".ljust(lead),
            subsequent_indent=" " * lead,
        )
        # A name without a text would vanish.
        or f"{INDENT}{name}"
        for name, text in rows
    )


class ColumnFormatter:
    """Implements Cyclopts' `HelpFormatter`."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print one group of commands or parameters."""
        if panel.entries:
            rows = [_row(entry) for entry in panel.entries]
            # Cyclopts' word for options; renaming its groups would split them.
            title = "Options" if panel.title == "Parameters" else panel.title
            self._print(console, f"{title}:\n{columns(rows, console.width)}\n")

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: Any) -> None:  # noqa: ANN401 - as Cyclopts declares it
        """Print the line that shows how the command is written."""
        self._print(console, f"Usage: {usage}")

    def render_description(
        self,
        console: "Console",
        options: "ConsoleOptions",
        description: Any,  # noqa: ANN401 - as Cyclopts declares it
    ) -> None:
        """Print what the command does, its paragraphs filled anew."""
        width = min(console.width, WIDEST)
        paragraphs = _plain(description).split("\n\n")
        self._print(console, "\n\n".join(textwrap.fill(text, width) for text in paragraphs) + "\n")

    @staticmethod
    def _print(console: "Console", text: str) -> None:
        console.print(text, highlight=False, markup=False, emoji=False, soft_wrap=True)


def _row(entry: "HelpEntry") -> Row:
    facts = [_plain(entry.description)]
    if entry.choices:
        facts.append(f"One of: {', '.join(entry.choices)}.")
    if entry.default is not None:
        facts.append(f"[default: {entry.default}]")
    return ", ".join(entry.display_labels_with_metavar), " ".join(filter(None, facts))


def _plain(text: Any) -> str:  # noqa: ANN401 - one of several kinds of Rich text
    text = getattr(text, "primary_renderable", text)
    return str(getattr(text, "plain", text) or "").strip()
